// Requests of analysts: a higher cap, or leave to run one query. Each is decided once.
import { post } from "/page/js/api.js";
import { amount, eps, key, when } from "/page/js/format.js";
import { FormDialog, useDoing } from "/page/js/owner-dialogs.js";
import { base, months, say } from "/page/js/state.js";
import { Button, Card, Empty, Failure, Link, Loading } from "/page/js/ui.js";
import { Fragment, html, useState } from "/page/vendor/preact.js";

const decide = (request, decision) => post(`${base.value}/requests/${request.number}/decision`, decision);

export function Requests({ loaded, accounts, onChange }) {
  const all = loaded.value?.requests ?? [];
  const open = all.filter((each) => each.state === "open");
  const decided = all.filter((each) => each.state !== "open").reverse();
  return html`<div id="requests"><${Card} id="requests" title="Requests" actions=${html`<span class="small soft">A grant raises a cap. The total budget stays.</span>`}>
    ${loaded.error && html`<div class="body"><${Failure} error=${loaded.error} actions=${html`<${Button} onClick=${loaded.again}>Try again</${Button}>`} /></div>`}
    ${!loaded.value && !loaded.error && html`<${Loading} />`}
    ${loaded.value && !open.length && html`<${Empty} title="Nothing waits for you.">Analysts who need more budget ask on their Budget page, and appear here.</${Empty}>`}
    ${open.map((each) => html`<${Waiting} key=${each.number} request=${each} account=${accounts.find(({ name }) => name === each.account)} onChange=${onChange} />`)}
    ${decided.length > 0 && html`<${Decided} requests=${decided} />`}</${Card}></div>`;
}

function Waiting({ request, account, onChange }) {
  const [asked, setAsked] = useState("");
  const [isBusy, error, run] = useDoing();
  const isCap = request.kind === "cap", who = key(request.account);
  const grant = (epsilon) => async () => {
    await decide(request, { granted: true, ...(epsilon === undefined ? {} : { epsilon }) });
    say(isCap ? `Granted. ${who} may now spend ${eps(epsilon ?? request.epsilon)} ${months.value ? "for each month" : "in total"}.` : `Granted. ${who} may run this query.`);
    onChange();
  };
  return html`<${Fragment}><div class="req">
    <div><b>${isCap ? html`${who} asks for a cap of <span class="priced">${eps(request.epsilon)}</span>`
      : html`${who} asks to run one query: <span class="priced">${request.price}</span>`}</b>
      ${isCap && account?.remaining && html` <span class="tag price">now ${eps(account.remaining.total_epsilon)}, ${amount(account.remaining.epsilon)} remaining</span>`}</div>
    <p>“${key(request.reason)}” <span class="muted nowrap">· ${when(request.written)}</span></p>
    ${!isCap && html`<pre class="sql mono">${key(request.query.sql).replaceAll("\\u000a", "\n")}</pre>`}
    ${error && html`<${Failure} error=${error} />`}
    <div class="btns"><${Button} kind="danger" disabled=${isBusy} onClick=${() => setAsked("decline")} aria-label=${`Decline the request of ${who}`}>Decline</${Button}>
      ${isCap && html`<${Button} disabled=${isBusy} onClick=${() => setAsked("other")} aria-label=${`Other amount for ${who}`}>Other amount</${Button}>`}
      <${Button} kind="solid" disabled=${isBusy} onClick=${() => run(grant())} aria-label=${isCap ? `Grant ${eps(request.epsilon)} to ${who}` : `Let it run: the query of ${who}`}>
        ${isCap ? `Grant ${eps(request.epsilon)}` : "Let it run"}</${Button}></div></div>
    ${asked === "decline" && html`<${Decline} request=${request} onChange=${onChange} onClose=${() => setAsked("")} />`}
    ${asked === "other" && html`<${OtherAmount} request=${request} account=${account} grant=${grant} onClose=${() => setAsked("")} />`}</${Fragment}>`;
}

function Decline({ request, onChange, onClose }) {
  const [reason, setReason] = useState("");
  const send = async () => {
    await decide(request, { granted: false, reason: reason.trim() });
    say(`Declined. ${key(request.account)} sees your reason.`);
    onChange();
  };
  return html`<${FormDialog} title=${`Decline the request of ${key(request.account)}`} words="Decline" danger send=${send} onClose=${onClose}>
    <label class="field"><span>Reason, for ${key(request.account)} to read</span>
      <textarea class="input" rows="3" maxlength="1000" required value=${reason} onInput=${(event) => setReason(event.target.value)} /></label>
  </${FormDialog}>`;
}

function OtherAmount({ request, account, grant, onClose }) {
  const [epsilon, setEpsilon] = useState(String(request.epsilon));
  return html`<${FormDialog} title=${`Another cap for ${key(request.account)}`} words=${`Grant ε ${epsilon || "…"}`} send=${grant(epsilon.trim())} onClose=${onClose}>
    <label class="field"><span>Cap ${months.value ? "for each month" : "in total"}, ε</span>
      <input class="input" inputmode="decimal" required pattern="[0-9]+([.][0-9]+)?" value=${epsilon} onInput=${(event) => setEpsilon(event.target.value)} /></label>
    <p class="small soft">${key(request.account)} asks for ${eps(request.epsilon)}${account?.remaining ? `, and has ${eps(account.remaining.total_epsilon)} now` : ""}. The cap is the total of all that this account may ever spend, not an increase.</p>
  </${FormDialog}>`;
}

const LINES = 5;

function Decided({ requests }) {
  const [most, setMost] = useState(LINES);
  return html`<details class="decided"><summary>Decided before (${requests.length})</summary>
    <ul class="rows">${requests.slice(0, most).map((each) => html`<li key=${each.number} class="past">
      <span class=${`tag ${each.state === "granted" ? "ok" : ""}`}>${each.state}</span>
      <span><b>${key(each.account)}</b> ${each.kind === "cap" ? `asked for ${eps(each.epsilon)}` : `asked to run a query: ${each.price}`}
        ${each.answer && html` · “${key(each.answer)}”`}</span>
      <span class="small muted nowrap">${key(each.by)}, ${when(each.decided)}</span></li>`)}</ul>
    <div class="more">${requests.length > most && html`<${Button} kind="ghost" onClick=${() => setMost(most + 20)}>Show more</${Button}>`}
      <${Link} class="btn ghost" to="/budget">See spending</${Link}></div></details>`;
}
