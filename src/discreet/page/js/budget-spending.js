// What owners see of spending: by account as one bar, caps, and by query.
import { amount, brief, count, eps, key, when } from "/page/js/format.js";
import { Card, Empty, Failure, Link, Loading, Meter } from "/page/js/ui.js";
import { html, useState } from "/page/vendor/preact.js";

const SHOWN = 4;

/** Accounts with what they spent, the largest first; the rest as one. */
function parts(accounts) {
  const spent = accounts.filter((each) => each.charged.epsilon > 0)
    .map((each) => ({ name: key(each.account), epsilon: each.charged.epsilon }))
    .toSorted((a, b) => b.epsilon - a.epsilon);
  const rest = spent.slice(SHOWN);
  const others = { name: count(rest.length, "other account", "other accounts"), epsilon: rest.reduce((sum, each) => sum + each.epsilon, 0) };
  return rest.length ? [...spent.slice(0, SHOWN), others] : spent;
}

const place = (accounts, name) => {
  const at = parts(accounts).findIndex((each) => each.name === key(name));
  return at < 0 ? SHOWN : at;
};

const spentBy = (charge) => charge.epsilon === null ? `ρ ${amount(charge.rho)}` : eps(charge.epsilon);

function Total({ balance, found, Figure, isByMonth }) {
  const { value, error } = found;
  const bars = value ? parts(value.accounts) : [];
  const total = balance.total_epsilon;
  const label = `Of ε = ${amount(total)}: ${[...bars.map((each) => `${each.name} ${amount(each.epsilon)}`), `remaining ${amount(balance.epsilon)}`].join(", ")}`;
  return html`<${Card} id="total" title="Everyone together" actions=${html`<${Link} class="btn" to="/owner">Change caps</${Link}>`}><div class="body stack">
    ${isByMonth ? html`<${Figure} balance=${balance} isByMonth=${true} />` : html`<${Figure} balance=${balance}><div class="stackbar" role="img" aria-label=${label}>
      ${bars.map((each, i) => html`<i key=${each.name} class=${`p${i}`} style=${{ width: `${100 * each.epsilon / total}%` }} />`)}</div></${Figure}>`}
    ${error ? html`<${Failure} error=${error} />` : html`<ul class="legend">
      ${bars.map((each, i) => html`<li key=${each.name}><i class=${`swatch p${i}`} />${each.name} <b class="num">${eps(each.epsilon)}</b></li>`)}
      ${isByMonth ? html`<li>added up over all months</li>` : html`<li><i class="swatch rest" />remaining <b class="num">${eps(balance.epsilon)}</b></li>`}</ul>`}
    </div>${value && html`<${Accounts} accounts=${value.accounts} isByMonth=${isByMonth} />`}</${Card}>`;
}

function Accounts({ accounts, isByMonth }) {
  const shown = accounts.filter((each) => each.remaining || each.queries);
  if (!shown.length) return null;
  return html`<div class="wrap-x accounts"><table class="tight"><caption class="vh">Accounts and caps</caption>
    <thead><tr><th>Account</th><th class="right">Queries</th><th class="right">Spent</th><th class="right">Cap</th><th class="wide"><span class="vh">Share</span></th></tr></thead>
    <tbody>${shown.map((each) => html`<tr key=${each.account}>
      <td><i class=${`swatch p${place(accounts, each.account)}`} /> <b>${key(each.account)}</b></td>
      <td class="right num">${amount(each.queries)}</td>
      <td class="right num priced nowrap">${spentBy(each.charged)}</td>
      <td class="right num nowrap">${each.remaining ? `${eps(each.remaining.total_epsilon)}${isByMonth ? " a month" : ""}` : html`<span class="muted">no cap</span>`}</td>
      <td class="wide">${each.remaining && !isByMonth && html`<${Meter} spent=${each.charged.epsilon ?? 0} total=${each.remaining.total_epsilon} label=${`${key(each.account)} spent ${amount(each.charged.epsilon)} of ${amount(each.remaining.total_epsilon)}`} />`}</td></tr>`)}</tbody></table></div>`;
}

function Queries({ found }) {
  const { value, error, again } = found;
  const [who, setWho] = useState("");
  const names = value ? value.accounts.filter((each) => each.queries).map((each) => each.account) : [];
  const shown = value ? value.queries.filter((each) => !who || each.account === who) : [];
  const pick = names.length > 1 && html`<label class="pick-who"><span class="vh">Account</span>
    <select class="input" value=${who} onChange=${(event) => setWho(event.target.value)}><option value="">All accounts</option>
      ${names.map((each) => html`<option key=${each} value=${each}>${key(each)}</option>`)}</select></label>`;
  return html`<${Card} id="queries" title="Who spent what" actions=${pick}>
    ${error && !value ? html`<div class="body"><${Failure} error=${error} actions=${html`<button class="btn" onClick=${again}>Try again</button>`} /></div>`
      : !value ? html`<${Loading} />`
      : !shown.length ? html`<${Empty} title="Nothing was spent yet">Each query that spends budget appears here, with its account and cost.</${Empty}>`
      : html`<div class="wrap-x"><table class="asked"><thead><tr><th>Query</th><th>Account</th><th class="right">Cost</th><th class="right">When</th></tr></thead>
        <tbody>${shown.map((each) => html`<tr key=${`${each.account} ${each.question}`}>
          <td class="query mono">${brief(each.question)}</td>
          <td class="nowrap"><i class=${`swatch p${place(value.accounts, each.account)}`} /> ${key(each.account)}</td>
          <td class="right priced num nowrap">${spentBy(each)}</td>
          <td class="right small muted nowrap">${when(each.written)}</td></tr>`)}</tbody></table></div>`}</${Card}>`;
}

export const Spending = { Total, Queries };
