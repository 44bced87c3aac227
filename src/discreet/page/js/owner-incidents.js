// Incidents: queries that failed after their charge. The owner looks, and lets the account ask again.
import { post } from "/page/js/api.js";
import { key, when } from "/page/js/format.js";
import { FormDialog } from "/page/js/owner-dialogs.js";
import { base, say } from "/page/js/state.js";
import { Button, Card, Empty, Failure, Loading } from "/page/js/ui.js";
import { html, useState } from "/page/vendor/preact.js";

const FAILURES = {
  failed: "The database could not run a query",
  time: "A query ran longer than is allowed",
  memory: "A query needed more memory than is allowed",
  release: "A query failed while noise was added",
  unanswered: "A query was charged and has no answer",
};

const what = ({ suspends }) => ({ all: "all accounts wait", account: "the account waits", "": "no account waits" }[suspends] ?? "the account waits");

export function Incidents({ loaded, onChange }) {
  const [resuming, setResuming] = useState(null);
  const all = (loaded.value?.incidents ?? []).toReversed();
  const open = all.filter((each) => !each.is_resumed), past = all.filter((each) => each.is_resumed);
  const listed = (each) => html`<${Incident} key=${each.number} incident=${each} onResume=${() => setResuming(each)} />`;
  return html`<div id="incidents"><${Card} id="incidents" title="Incidents">
    ${loaded.error && html`<div class="body"><${Failure} error=${loaded.error} actions=${html`<${Button} onClick=${loaded.again}>Try again</${Button}>`} /></div>`}
    ${!loaded.value && !loaded.error && html`<${Loading} rows="1" />`}
    ${loaded.value && !open.length && html`<${Empty} title=${past.length ? "No open incidents." : "No incidents."}>A query that fails after it was charged appears here, and its account waits until you have looked.</${Empty}>`}
    ${open.map(listed)}
    ${past.length > 0 && html`<details class="decided"><summary>Looked at before (${past.length})</summary>${past.map(listed)}</details>`}
    ${resuming && html`<${Resume} incident=${resuming} onChange=${onChange} onClose=${() => setResuming(null)} />`}</${Card}></div>`;
}

function Incident({ incident, onResume }) {
  const { account, failure, written, is_resumed: isResumed, about } = incident;
  return html`<div class="req"><div><b>${FAILURES[failure] ?? FAILURES.failed}</b>
      <span class=${`tag ${isResumed ? "ok" : incident.suspends ? "refuse" : ""}`}>${isResumed ? "looked at" : what(incident)}</span></div>
    <p>${key(account)} · ${when(written)} · entry ${incident.number} of the ledger${failure === "unanswered" ? " · it may still run" : ""}</p>
    ${about.question && html`<pre class="sql mono">${key(about.question).replaceAll("\\u000a", "\n")}</pre>`}
    ${!isResumed && html`<div class="btns"><${Button} onClick=${onResume} aria-label=${`Let ask again: ${key(account)}`}>Let ask again</${Button}></div>`}</div>`;
}

function Resume({ incident, onChange, onClose }) {
  const who = key(incident.account);
  const send = async () => {
    await post(`${base.value}/resume`, { account: incident.account });
    say(`${who} can ask again.`);
    onChange();
  };
  return html`<${FormDialog} title=${`Let ${who} ask again?`} words="Let ask again" send=${send} onClose=${onClose}>
    <p>Whether a query fails can depend on the data, and no noise covers that. Find out why it failed first: the database's own message is in the server's log.</p>
    <p class="small soft">All incidents of ${who} up to now count as looked at. The ledger records it.</p></${FormDialog}>`;
}
