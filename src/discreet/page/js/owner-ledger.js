// The ledger: check every entry, and that an entry noted elsewhere is still there.
import { post } from "/page/js/api.js";
import { useDoing } from "/page/js/owner-dialogs.js";
import { base } from "/page/js/state.js";
import { Button, Card, Failure, Link, Note, copied } from "/page/js/ui.js";
import { html, useState } from "/page/vendor/preact.js";

export function Ledger({ verified: [verified, setVerified] }) {
  const [head, setHead] = useState("");
  const [words, setWords] = useState("Copy");
  const [isBusy, error, run] = useDoing();
  const verify = (event) => {
    event.preventDefault();
    const noted = head.trim();
    setVerified(null);
    setWords("Copy");
    run(async () => setVerified({ ...await post(`${base.value}/verify`, noted ? { head: noted } : {}), at: new Date().toISOString(), noted }));
  };
  return html`<div id="ledger"><${Card} id="ledger" title="Ledger" actions=${html`<${Link} class="btn ghost" to="/budget">See spending</${Link}>`}>
    <div class="body stack tight-stack">
      <p class="soft small">Every charge, decision and answer is an entry, and each entry contains the digest of the one before. Verifying reads all of them.
        It cannot see that the newest entries were cut off: for that, note the digest of the last entry (the head) outside this server, and enter it here next time.</p>
      <form class="verify" onSubmit=${verify}><label class="field"><span>Head that you noted before (optional)</span>
        <input class="input mono" maxlength="64" pattern="[0-9a-f]{64}" title="64 digits and letters a to f" spellcheck="false" autocomplete="off"
          value=${head} onInput=${(event) => setHead(event.target.value)} /></label>
        <${Button} type="submit" kind="solid" disabled=${isBusy}>${isBusy ? "Verifying…" : "Verify"}</${Button}></form>
      <div aria-live="polite">
        ${error && html`<${Failure} error=${error} />`}
        ${verified && html`<${Note} kind="ok" icon="check"><b>Sound.</b> Each entry follows from the one before${verified.noted ? ", and the entry that you noted is among them" : ""}.</${Note}>`}</div>
      ${verified && html`<div class="headline"><span class="label">Head: keep it outside this server, with the date</span>
        <div><output class="token mono" aria-label="Head of the ledger">${verified.head}</output>
          <${Button} icon="copy" onClick=${async () => setWords(await copied(verified.head) ? "Copied" : "Select it and copy")}>${words}</${Button}></div></div>`}
    </div></${Card}></div>`;
}
