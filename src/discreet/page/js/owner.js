// The owner's room: what waits, who may ask, what runs, what went wrong, and whether the ledger is sound.
import { get } from "/page/js/api.js";
import { amount, count, eps, key, when } from "/page/js/format.js";
import { Icon } from "/page/js/icons.js";
import { Accounts } from "/page/js/owner-accounts.js";
import { AuditLog } from "/page/js/owner-audit.js";
import { Incidents } from "/page/js/owner-incidents.js";
import { Ledger } from "/page/js/owner-ledger.js";
import { Requests } from "/page/js/owner-requests.js";
import { Running, useRunning } from "/page/js/owner-running.js";
import { base, budget, catalogs, choose, current, isOwner, refreshWaiting } from "/page/js/state.js";
import { Card, Failure, Link, Loading, Meter, useLoaded, useStyles } from "/page/js/ui.js";
import { html, useEffect, useState } from "/page/vendor/preact.js";

export default function OwnersRoom() {
  const hasStyles = useStyles("owner");
  if (!isOwner.value) {
    return html`<div class="page"><div class="head"><div><h1>This view is for the data owner</h1>
      <p>Your account ${key(current.value.who)} has the role ${current.value.role} in ${key(current.value.name)}.</p></div>
      <${Link} class="btn" to="/">Go to Ask</${Link}></div></div>`;
  }
  return hasStyles ? html`<${Room} />` : html`<div class="page"><${Loading} /></div>`;
}

const within = (path) => () => get(`${base.value}/${path}`);

function Room() {
  const requests = useLoaded(within("requests"), [base.value]);
  const accounts = useLoaded(within("analysts"), [base.value]);
  const incidents = useLoaded(within("incidents"), [base.value]);
  const verified = useState(null);
  const running = useRunning();
  const open = (requests.value?.requests ?? []).filter((each) => each.state === "open");
  const failed = (incidents.value?.incidents ?? []).filter((each) => !each.is_resumed);
  const past = (incidents.value?.incidents.length ?? 0) - failed.length;
  const changed = () => { requests.again(); accounts.again(); refreshWaiting().catch(() => {}); };
  return html`<div class="page">
    <div class="head"><div><h1>Owner's room</h1><p>What waits for you, who may ask, and whether all is well.</p></div>
      <${Link} class="btn solid" to="/owner/add"><${Icon} name="plus" /> Add data</${Link}></div>
    <div class="alerts">
      <${Alert} to="requests" label="Waits for you" loaded=${requests} words=${open.length ? count(open.length, "request") : "Nothing"}
        more=${open.length ? `the oldest since ${when(open[0].written)}` : "no open requests"} hot=${open.length > 0} />
      <${Alert} to="running" label="Running now" loaded=${running} words=${runningWords(running)} more=${runningMore(running)} />
      <${Alert} to="incidents" label="Incidents" loaded=${incidents} words=${failed.length ? `${failed.length} to look at` : "None open"}
        more=${past ? `${past} looked at before` : failed.length ? "accounts may wait" : "no query failed"} bad=${failed.some((each) => each.suspends)} />
      <${Alert} to="ledger" label="Ledger" loaded=${{ value: true }} words=${verified[0] ? "Sound" : "Not verified yet"} ok=${Boolean(verified[0])}
        more=${verified[0] ? `verified ${when(verified[0].at)}` : "since you opened this page"} /></div>
    <div class="cols owner"><${Parts} marks=${{ requests: open.length, running: running.value?.running.length ?? 0, incidents: failed.length }} />
      <div class="stack">
        <${Requests} loaded=${requests} accounts=${accounts.value?.analysts ?? []} onChange=${changed} />
        <${Running} loaded=${running} />
        <${Accounts} loaded=${accounts} onChange=${changed} />
        <${Incidents} loaded=${incidents} onChange=${incidents.again} />
        <${Ledger} verified=${verified} />
        <${AuditLog} />
        <${DataSets} /></div></div></div>`;
}

const runningWords = ({ value, isMissing }) => (isMissing ? "Not known" : value?.running.length ? count(value.running.length, "query", "queries") : "Nothing");
const runningMore = ({ value, isMissing }) => {
  if (isMissing) return "this server does not list them";
  const waits = (value?.running ?? []).filter((each) => each.state === "waiting").length;
  return waits ? `${waits} of them wait for a turn` : "updated every 2 seconds";
};

/** Go to a part of this page, and tell screen readers where they are. */
function jump(id) {
  return (event) => {
    event.preventDefault();
    document.getElementById(id)?.scrollIntoView({ block: "start" });
    document.getElementById(`${id}-title`)?.focus({ preventScroll: true });
  };
}

function Alert({ to, label, loaded, words, more, hot, bad, ok }) {
  const shown = loaded.error ? "Not loaded" : loaded.value || loaded.isMissing ? words : "…";
  return html`<a class="card alert" href=${`#${to}`} onClick=${jump(to)}><span class="label">${label}</span>
    <span class=${`v ${hot ? "hot" : ""} ${bad ? "bad" : ""}`}>${ok && html`<span class="okay"><${Icon} name="check" size="18" /></span>`}${shown}</span>
    <span class="d">${loaded.value || loaded.isMissing ? more : ""}</span></a>`;
}

const PARTS = [["requests", "Requests"], ["running", "Running now"], ["accounts", "Accounts"], ["incidents", "Incidents"],
  ["ledger", "Ledger"], ["audit", "Audit log"], ["sets", "Data sets"]];

function Parts({ marks }) {
  const [here, setHere] = useState("requests");
  useEffect(() => {
    const watch = new IntersectionObserver((seen) => seen.forEach((each) => { if (each.isIntersecting) setHere(each.target.id); }),
      { rootMargin: "-15% 0px -75% 0px" });
    PARTS.forEach(([id]) => { const part = document.getElementById(id); if (part) watch.observe(part); });
    return () => watch.disconnect();
  }, []);
  return html`<nav class="parts" aria-label="Parts of this page">${PARTS.map(([id, words]) => html`
    <a key=${id} href=${`#${id}`} onClick=${jump(id)} aria-current=${here === id ? "true" : undefined}>${words}
      ${marks[id] > 0 && html`<span class="badge">${marks[id]}</span>`}</a>`)}</nav>`;
}

const isOpen = (left, months) => (months ?? [left]).some((each) => each.epsilon > 0);

/** The data sets that this person owns, with what remains of each budget. */
function DataSets() {
  const own = catalogs.value.filter((each) => each.role === "owner").map((each) => each.name);
  const load = async () => Object.fromEntries(await Promise.all(own.map(async (name) =>
    [name, (await get(`/v1/catalogs/${encodeURIComponent(name)}/budget`))])));
  const { value, error } = useLoaded(load, [own.join(" "), budget.value?.epsilon]);
  return html`<div id="sets"><${Card} id="sets" title="Data sets" actions=${html`<${Link} class="btn ghost" to="/budget">Who spent what</${Link}>`}>
    ${error && html`<div class="body"><${Failure} error=${error} /></div>`}
    ${!value && !error && html`<${Loading} rows=${own.length} />`}
    ${value && html`<ul class="rows">${own.map((name) => [name, value[name].remaining, value[name].months]).map(([name, left, months]) => html`<li key=${name} class="set"><b>${key(name)}</b>
      <span class="cap"><span class="num">${eps(left.epsilon)} of ${amount(left.total_epsilon)} remaining${months && ", least of any month"}</span>
        <${Meter} spent=${left.total_epsilon - left.epsilon} total=${left.total_epsilon} /></span>
      <span class=${`tag ${isOpen(left, months) ? "ok" : ""}`}>${isOpen(left, months) ? "open" : "spent: saved answers only"}</span>
      ${name === current.value.name ? html`<span class="small muted">in use</span>`
        : html`<button type="button" class="btn small-btn" onClick=${() => choose(name)}>Use<span class="vh"> ${name}</span></button>`}</li>`)}</ul>`}
  </${Card}></div>`;
}
