// Signing in: at the organisation's OpenID provider if there is one, or with a token.
import { get } from "/page/js/api.js";
import { Mark } from "/page/js/icons.js";
import { notice, signIn } from "/page/js/state.js";
import { Button, Note, useLoaded, useStyles } from "/page/js/ui.js";
import { html, useState } from "/page/vendor/preact.js";

const CURVE = (middle) => {
  const at = (x) => 150 - 120 * Math.exp(-Math.abs(x - middle) / 42);
  return `M${Array.from({ length: 201 }, (_, i) => `${2 * i},${at(2 * i).toFixed(1)}`).join("L")}`;
};

export default function SignIn() {
  const [token, setToken] = useState("");
  const [error, setError] = useState("");
  const [isBusy, setBusy] = useState(false);
  const { value: ways } = useLoaded(() => get("/v1/oidc", { quiet: true }), []);
  useStyles("sign-in");
  const send = async (event) => {
    event.preventDefault();
    setBusy(true);
    setError("");
    try {
      notice.value = "";
      await signIn(token.trim());
    } catch (found) {
      setError(found.status === 401 ? "This token is not valid. Ask the data owner for a new one." : `${found.message}. ${found.remedy}`);
      setBusy(false);
    }
  };
  return html`<main id="main" class="door">
    <section class="card"><div class="body stack">
      <h1><${Mark} size="30" /> Discreet</h1>
      <p class="soft">Ask about sensitive data. Random noise hides every person in it.</p>
      ${notice.value && html`<${Note} kind="price">${notice.value}</${Note}>`}
      ${ways?.login && html`<a class="btn big solid" href=${ways.login}>Sign in with your organisation</a>
        <p class="or"><span>or</span></p>`}
      <form class="stack" onSubmit=${send}>
        <label class="field"><span>Token</span>
          <input class="input mono" type="password" name="token" autocomplete="current-password" required spellcheck="false"
            value=${token} onInput=${(event) => setToken(event.target.value)} aria-describedby="token-help" /></label>
        <p id="token-help" class="small muted">The data owner gives you one. It starts with discreet_.</p>
        ${error && html`<${Note} kind="refuse" icon="stop" role="alert">${error}</${Note}>`}
        <${Button} kind=${`big ${ways?.login ? "" : "solid"}`} type="submit" disabled=${isBusy || !token.trim()}>${isBusy ? "Signing in…" : "Sign in"}</${Button}>
      </form></div></section>
    <figure><svg viewBox="0 0 400 160" role="img" aria-label="Two curves that almost coincide">
      <path class="one" d=${CURVE(190)} /><path class="two" d=${CURVE(210)} /></svg>
      <figcaption class="small muted">Every answer is almost as likely with any one person's data as without it.</figcaption></figure>
  </main>`;
}
