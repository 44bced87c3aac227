// Budget: what remains, what it is enough for, what was asked and what it cost, requests.
import { get, post } from "/page/js/api.js";
import { held, Months, Spent } from "/page/js/budget-months.js";
import { Spending } from "/page/js/budget-spending.js";
import { amount, brief, count, eps, key, when } from "/page/js/format.js";
import { base, budget, current, isOwner, refreshBudget, say } from "/page/js/state.js";
import { Button, Card, Choice, Dialog, Empty, Failure, Link, Loading, Meter, useLoaded, useStyles } from "/page/js/ui.js";
import { html, useState } from "/page/vendor/preact.js";

const PAGE = 100;

/** 1e-6 rather than 0.000001. */
const tiny = (value) => value && value < 1e-3 ? Number(value.toPrecision(3)).toExponential().replace("-", "−") : amount(value);

function Figure({ balance, isByMonth, children }) {
  const { letter, remaining, total } = held(balance);
  return html`<div class="stack tight-stack">
    <p class="figure"><span class="bignum priced num">${letter} ${amount(remaining)}</span>
      <span class="soft">remaining of ${amount(total)}${isByMonth && ", the least of any month"}</span>
      ${balance.total_delta > 0 && html`<span class="small muted delta num">δ ${tiny(balance.delta)} remaining of ${tiny(balance.total_delta)}</span>`}</p>
    ${children ?? html`<${Meter} tall spent=${total - remaining} total=${total} label=${`Spent ${letter} = ${amount(total - remaining)} of ${amount(total)}`} />`}</div>`;
}

function EnoughFor({ rows, isByMonth }) {
  return html`<div><h3>What that is enough for</h3>
    <ul class="buys">
      ${rows.map((each) => html`<li key=${each.epsilon}><b>${each.queries ? `at least ${count(each.queries, "query", "queries")}` : "no query"}</b>
        <span class="priced num">${eps(each.epsilon)} each</span></li>`)}
      <li><b>every saved answer</b><span class="tag answer">free</span></li></ul>
    <p class="small muted">One query may have many groups and columns: its cost covers all of them. The smaller the cost, the larger ±.${isByMonth && " These numbers are for queries about every month."}</p></div>`;
}

const OUTCOMES = { charged: "spent", done: "spent", free: "free", repeated: "free" };
const FILTERS = [["all", "All"], ["spent", "Spent"], ["free", "Free"], ["rejected", "Rejected"]];
const kindOf = (entry) => {
  const kind = OUTCOMES[entry.outcome] ?? "rejected";
  return kind === "spent" && entry.epsilon === "0" ? "free" : kind;
};

/** "1/5" as 0.2. */
export function fraction(text) {
  const [top, bottom = "1"] = String(text).split("/");
  return Number(top) / Number(bottom);
}

function Cost({ entry }) {
  const kind = kindOf(entry);
  if (kind === "spent") return html`<span class="priced num nowrap">${eps(fraction(entry.epsilon ?? "0"))}</span>`;
  if (kind === "free") return html`<span class="tag answer">free</span>`;
  return html`<span class="tag refuse" title=${entry.outcome}>${entry.outcome === "budget" ? "not enough budget" : "rejected"}</span>`;
}

function Asked({ entry }) {
  const words = entry.action === "coverage" ? `Measured coverage of ${key(entry.table)}` : brief(entry.question ?? entry.sql ?? "An answer that was read again");
  const to = entry.answer ? `/answers/${encodeURIComponent(current.value.name)}/${entry.answer}`
    : entry.sql ? `/?q=${encodeURIComponent(entry.sql)}` : "";
  return html`<tr><td class="query">${to ? html`<${Link} to=${to} class="mono" title=${entry.answer ? "Open the saved answer" : "Open in Ask"}>${words}</${Link}>` : html`<span class="soft">${words}</span>`}</td>
    <td class="right"><${Cost} entry=${entry} /></td>
    <td class="right small muted nowrap">${when(entry.written)}</td></tr>`;
}

function History() {
  const [older, setOlder] = useState([]);
  const [isEnd, setEnd] = useState(false);
  const [filter, setFilter] = useState("all");
  const { value, error, again } = useLoaded(() => get(`${base.value}/history?limit=${PAGE}`), [base.value, budget.value]);
  const all = [...(value?.entries ?? []), ...older];
  const wanted = all.filter((each) => (each.action === "ask" && each.sql || each.action === "coverage")
    && (filter === "all" || kindOf(each) === filter));
  const more = async () => {
    const found = (await get(`${base.value}/history?limit=${PAGE}&before=${all.at(-1).number}`)).entries;
    setOlder([...older, ...found]);
    setEnd(found.length < PAGE);
  };
  const body = () => {
    if (error && !value) return html`<div class="body"><${Failure} error=${error} actions=${html`<${Button} onClick=${again}>Try again</${Button}>`} /></div>`;
    if (!value) return html`<${Loading} label="Loading your queries" />`;
    if (!wanted.length) {
      return html`<${Empty} title=${filter === "all" ? "Nothing asked yet" : "Nothing of this kind"}
        actions=${filter === "all" && html`<${Link} class="btn" to="/">Ask</${Link}>`}>Your queries appear here. Opening one again is free.</${Empty}>`;
    }
    return html`<div class="wrap-x"><table class="asked"><thead><tr><th>Query</th><th class="right">Cost</th><th class="right">When</th></tr></thead>
      <tbody>${wanted.map((each) => html`<${Asked} key=${each.number} entry=${each} />`)}</tbody></table></div>`;
  };
  return html`<${Card} id="asked" title="What you asked"
    actions=${html`<${Choice} label="Show" options=${FILTERS} value=${filter} onChange=${setFilter} />`}
    footer=${html`<span>A rejected query costs nothing. A saved answer opens for free.</span>
      ${all.length >= PAGE && !isEnd && html`<${Button} kind="ghost" onClick=${more}>Show older</${Button}>`}`}>${body()}</${Card}>`;
}

const STATES = { open: ["price", "waiting"], granted: ["ok", "granted"], declined: ["refuse", "declined"] };

function RequestRow({ request }) {
  const [kind, words] = STATES[request.state] ?? ["", request.state];
  const what = request.kind === "question" ? html`<span class="mono">${brief(request.query.sql)}</span> at ${request.price}`
    : html`a cap of <b class="priced">${eps(request.epsilon)}</b>`;
  return html`<li><div><p>${isOwner.value && html`<b>${key(request.account)}</b>: `}${what} <span class=${`tag ${kind}`}>${words}</span></p>
    <p class="small soft">“${key(request.reason)}”, sent ${when(request.written)}${request.decided && `. Decided ${when(request.decided)} by ${key(request.by)}`}${request.answer && `: “${key(request.answer)}”`}</p></div></li>`;
}

function Requests({ found, onRequest }) {
  const { value, error } = found;
  const requests = (value?.requests ?? []).toReversed();
  const actions = isOwner.value ? html`<${Link} class="btn" to="/owner">Decide in Owner</${Link}>`
    : html`<${Button} kind="ghost" icon="plus" onClick=${onRequest}>Request more</${Button}>`;
  return html`<${Card} id="requests" title=${isOwner.value ? "Requests" : "Your requests"} actions=${actions}>
    ${error ? html`<div class="body"><${Failure} error=${error} /></div>` : !value ? html`<${Loading} rows="2" />`
      : requests.length ? html`<ul class="requests">${requests.map((each) => html`<${RequestRow} key=${each.number} request=${each} />`)}</ul>`
      : html`<${Empty} title="No requests">${isOwner.value ? "Requests of analysts appear here." : "If your budget is not enough, ask the data owner for more. Requests and decisions are written into the ledger."}</${Empty}>`}</${Card}>`;
}

function RequestDialog({ cap, isByMonth, onClose, onSent }) {
  const [epsilon, setEpsilon] = useState("");
  const [reason, setReason] = useState("");
  const [error, setError] = useState(null);
  const send = async (event) => {
    event.preventDefault();
    setError(null);
    try {
      await post(`${base.value}/requests`, { epsilon: epsilon.trim(), reason: reason.trim() });
      say("Sent. You will see the decision here.");
      onSent();
      event.target.closest("dialog").close();
    } catch (found) { setError(found); }
  };
  return html`<${Dialog} title="Request more budget" onClose=${onClose}><form class="stack" onSubmit=${send}>
    <p class="soft small">Your cap is ${eps(cap)} now${isByMonth && " for each month"}. The data owner sees your reason and decides.</p>
    <label class="field"><span>New cap, ε ${isByMonth ? "for each month" : "in total"}</span><input class="input" name="epsilon" required inputmode="decimal" pattern="[0-9]+([.][0-9]+)?" title="A number such as 2.5" value=${epsilon} onInput=${(event) => setEpsilon(event.target.value)} /></label>
    <label class="field"><span>Reason</span><textarea class="input" name="reason" required maxlength="1000" rows="3" placeholder="Such as: quarterly report, six tables by region" value=${reason} onInput=${(event) => setReason(event.target.value)}></textarea></label>
    ${error && html`<${Failure} error=${error} />`}
    <div class="btns"><${Button} kind="solid" type="submit">Send the request</${Button}></div></form></${Dialog}>`;
}

export default function Budget() {
  useStyles("budget");
  const [isAsking, setAsking] = useState(false);
  const found = useLoaded(() => get(`${base.value}/budget`), [base.value, budget.value]);
  const requests = useLoaded(() => get(`${base.value}/requests`), [base.value]);
  const spending = useLoaded(() => isOwner.value ? get(`${base.value}/spending`) : Promise.resolve(null), [base.value, budget.value]);
  const { value, error } = found;
  const request = () => setAsking(true);
  if (error && !value) return html`<div class="page"><h1>Budget</h1><${Failure} error=${error} actions=${error.status !== 403 && html`<${Button} onClick=${found.again}>Try again</${Button}>`} /></div>`;
  if (!value) return html`<div class="page"><h1>Budget</h1><${Loading} rows="5" label="Loading the budget" /></div>`;
  const { months } = value;
  return html`<div class="page budget"><div class="head"><div><h1>Budget</h1>
      <p>The most that all answers together may reveal about ${months ? "the data of any one person in one month" : "any one person, for the life of the data"}. Saved answers stay free.</p></div>
      ${!isOwner.value && html`<${Button} kind="solid" icon="plus" onClick=${request}>Request more</${Button}>`}</div>
    <div class="stack">
      <${Spent} remaining=${value.remaining} months=${months} />
      <div class="cols purses">${isOwner.value ? html`
        <${Spending.Total} balance=${value.total} found=${spending} Figure=${Figure} isByMonth=${Boolean(months)} />
        <${Card} id="mine" title="For owners"><div class="body stack">
          <p class="soft small">All owners spend on the account “owner”. It has no cap: it may spend all that remains.</p>
          <${EnoughFor} rows=${value.enough_for} isByMonth=${Boolean(months)} /></div></${Card}>` : html`
        <${Card} id="mine" title="For you"><div class="body stack"><${Figure} balance=${value.remaining} isByMonth=${Boolean(months)} /><${EnoughFor} rows=${value.enough_for} isByMonth=${Boolean(months)} /></div></${Card}>
        <div class="stack"><${Card} id="total" title="Everyone together"><div class="body stack"><${Figure} balance=${value.total} isByMonth=${Boolean(months)} />
            <p class="small soft">All accounts share this. Once ${months ? "a month is spent, nothing new is answered about it" : "it is spent, nothing new is answered"}, whatever your cap is.</p></div></${Card}>
          <${Requests} found=${requests} onRequest=${request} /></div>`}
      </div>
      ${months && html`<${Months} months=${months} isOwner=${isOwner.value} />`}
      ${isOwner.value && html`<${Spending.Queries} found=${spending} />`}
      <${History} />
      ${isOwner.value && html`<${Requests} found=${requests} />`}
    </div>
    ${isAsking && html`<${RequestDialog} cap=${value.remaining.total_epsilon} isByMonth=${Boolean(months)} onClose=${() => setAsking(false)}
      onSent=${() => { requests.again(); refreshBudget(); }} />`}</div>`;
}
