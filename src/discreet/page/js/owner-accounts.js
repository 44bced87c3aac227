// Accounts: add one, change its cap, make a new token, disable and enable it.
import { call, post } from "/page/js/api.js";
import { amount, eps, key } from "/page/js/format.js";
import { FormDialog, TokenDialog } from "/page/js/owner-dialogs.js";
import { base, current, months, say } from "/page/js/state.js";
import { Button, Card, Empty, Failure, Loading, Menu, Meter } from "/page/js/ui.js";
import { html, useState } from "/page/vendor/preact.js";

const change = (account, what) => call("PATCH", `${base.value}/analysts/${encodeURIComponent(account.name)}`, what);

export function Accounts({ loaded, onChange }) {
  const [open, setOpen] = useState(null);  // {kind, account} of the dialog that is open
  const [made, setMade] = useState(null);  // an account with its new token
  const close = () => setOpen(null);
  const done = (account) => { if (account.token) setMade(account); onChange(); };
  const all = loaded.value?.analysts ?? [];
  return html`<div id="accounts"><${Card} id="accounts" title="Accounts"
    actions=${html`<${Button} icon="plus" onClick=${() => setOpen({ kind: "add" })}>Add an account</${Button}>`}
    footer="Caps may add up to more than the total budget. They never add to it: what all analysts learn together stays within the total.">
    ${loaded.error && html`<div class="body"><${Failure} error=${loaded.error} actions=${html`<${Button} onClick=${loaded.again}>Try again</${Button}>`} /></div>`}
    ${!loaded.value && !loaded.error && html`<${Loading} />`}
    ${loaded.value && !all.length && html`<${Empty} title="No accounts yet.">Add one for each person or program that asks.</${Empty}>`}
    <ul class="rows accounts">${all.map((each) => html`<${Account} key=${each.name} account=${each} onOpen=${(kind) => setOpen({ kind, account: each })} />`)}</ul>
    ${open?.kind === "add" && html`<${AddAccount} onDone=${done} onClose=${close} />`}
    ${open?.kind === "cap" && html`<${ChangeCap} account=${open.account} onDone=${done} onClose=${close} />`}
    ${open?.kind === "rotate" && html`<${Rotate} account=${open.account} onDone=${done} onClose=${close} />`}
    ${open?.kind === "disable" && html`<${Switch} account=${open.account} onDone=${done} onClose=${close} />`}
    ${made && html`<${TokenDialog} name=${key(made.name)} token=${made.token} onClose=${() => setMade(null)} />`}</${Card}></div>`;
}

function Account({ account, onOpen }) {
  const left = account.remaining, name = key(account.name);
  const items = [
    account.role === "analyst" && ["Change the cap…", () => onOpen("cap"), ""],
    ["New token…", () => onOpen("rotate"), ""],
    [account.enabled ? "Disable…" : "Enable…", () => onOpen("disable"), ""],
  ];
  return html`<li class=${account.enabled ? "" : "off"}><span class="who"><b>${name}</b>
      ${account.name === current.value.who && html` <span class="small muted">you</span>`}</span>
    <span class="role"><span class="small soft">${account.role}</span>${!account.enabled && html` <span class="tag refuse">disabled</span>`}</span>
    ${left ? html`<span class="cap"><span class="num small">${months.value ? `${eps(left.epsilon)} of ${amount(left.total_epsilon)} remaining, least of any month` : `${eps(left.total_epsilon - left.epsilon)} of ${amount(left.total_epsilon)} spent`}</span>
        ${!months.value && html`<${Meter} spent=${left.total_epsilon - left.epsilon} total=${left.total_epsilon} label=${`${name} spent ε = ${amount(left.total_epsilon - left.epsilon)} of ${amount(left.total_epsilon)}`} />`}</span>`
      : html`<span class="cap"><span class="small muted">${account.role === "owner" ? "spends from the total budget" : "reads saved answers, spends nothing"}</span></span>`}
    <${Menu} label=${`Change ${name}`} button="Change" kind="" items=${items} /></li>`;
}

const CAP = "[0-9]+([.][0-9]+)?(e-?[0-9]+)?";

function AddAccount({ onDone, onClose }) {
  const [name, setName] = useState("");
  const [role, setRole] = useState("analyst");
  const [epsilon, setEpsilon] = useState("1");
  const [delta, setDelta] = useState("");
  const send = async () => {
    const caps = role === "analyst" ? { epsilon: epsilon.trim(), ...(delta.trim() ? { delta: delta.trim() } : {}) } : {};
    onDone(await post(`${base.value}/analysts`, { name: name.trim(), role, ...caps }));
  };
  return html`<${FormDialog} title="Add an account" words="Add and show its token" send=${send} onClose=${onClose}>
    <label class="field"><span>Name</span><input class="input" required maxlength="200" autocomplete="off" value=${name} onInput=${(event) => setName(event.target.value)} /></label>
    <label class="field"><span>Role</span><select class="input" value=${role} onChange=${(event) => setRole(event.target.value)}>
      <option value="analyst">analyst: runs queries within a cap</option><option value="reader">reader: sees saved answers, spends nothing</option>
      <option value="owner">owner: sees and decides everything here</option></select></label>
    ${role === "analyst" && html`<div class="pair"><label class="field"><span>Cap, ε ${months.value ? "for each month" : "in total"}</span>
      <input class="input" inputmode="decimal" required pattern=${CAP} value=${epsilon} onInput=${(event) => setEpsilon(event.target.value)} /></label>
      <label class="field"><span>Cap, δ ${months.value ? "for each month" : "in total"} (optional)</span>
      <input class="input" inputmode="decimal" pattern=${CAP} placeholder="no separate cap" value=${delta} onInput=${(event) => setDelta(event.target.value)} /></label></div>`}
    ${role === "owner" && html`<p class="small soft">An owner can spend the whole budget, decide requests and change accounts. Give this role to people who may see the data anyway.</p>`}
  </${FormDialog}>`;
}

function ChangeCap({ account, onDone, onClose }) {
  const left = account.remaining, spent = left.total_epsilon - left.epsilon;
  const [epsilon, setEpsilon] = useState(String(left.total_epsilon));
  const send = async () => {
    onDone(await change(account, { epsilon: epsilon.trim() }));
    say(`${key(account.name)} may now spend ε ${epsilon.trim()} ${months.value ? "for each month" : "in total"}.`);
  };
  return html`<${FormDialog} title=${`Cap of ${key(account.name)}`} words="Change the cap" send=${send} onClose=${onClose}>
    <label class="field"><span>Cap, ε ${months.value ? "for each month" : "in total"}</span>
      <input class="input" inputmode="decimal" required pattern=${CAP} value=${epsilon} onInput=${(event) => setEpsilon(event.target.value)} /></label>
    <p class="small soft">${months.value ? "The cap is for each month. A cap below what was spent for a month stops new queries about it" : `${key(account.name)} has spent ${eps(spent)}. A cap below that stops new queries`}; saved answers stay free.</p></${FormDialog}>`;
}

function Rotate({ account, onDone, onClose }) {
  const send = async () => onDone(await change(account, { rotate: true }));
  return html`<${FormDialog} title=${`New token for ${key(account.name)}?`} words="Make a new token" danger send=${send} onClose=${onClose}>
    <p>The old token ends at once in ${current.value.name}, and so do sessions that began with it. In data sets that were added with it, it stays valid${account.name === current.value.who ? ". This is your own account: you sign in again with the new token" : ""}. This cannot be undone.</p></${FormDialog}>`;
}

function Switch({ account, onDone, onClose }) {
  const [words, what] = account.enabled
    ? ["Disable", `${key(account.name)} can no longer sign in to ${current.value.name}. What was spent stays spent, and saved answers stay. You can enable the account again.`]
    : ["Enable", `${key(account.name)} can sign in again with the token of before.`];
  const send = async () => {
    onDone(await change(account, { enabled: !account.enabled }));
    say(`${key(account.name)} is ${account.enabled ? "disabled" : "enabled"}.`);
  };
  return html`<${FormDialog} title=${`${words} ${key(account.name)}?`} words=${words} danger=${account.enabled} send=${send} onClose=${onClose}>
    <p>${what}</p>${account.enabled && account.name === current.value.who && html`<p><b>This is your own account.</b> You will be signed out.</p>`}</${FormDialog}>`;
}
