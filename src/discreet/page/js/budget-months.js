// A budget per month: what remains for each, and what that means for the other numbers.
import { amount, key } from "/page/js/format.js";
import { Card, Meter, Note } from "/page/js/ui.js";
import { html } from "/page/vendor/preact.js";

/** A balance as it is counted: by ε, or by ρ once only that is held. */
export function held(balance) {
  const isRho = !balance.epsilon && balance.rho > 0;
  return isRho ? { letter: "ρ", remaining: balance.rho, total: balance.total_rho }
    : { letter: "ε", remaining: balance.epsilon, total: balance.total_epsilon };
}

const SHOWN = 3;
const isSpent = (balance) => held(balance).remaining <= 0;

/** That the budget is spent, or that of some months. */
export function Spent({ remaining, months }) {
  const spent = (months ?? []).filter(isSpent);
  if (!isSpent(remaining)) return null;
  if (!months || spent.length === months.length) return html`<${Note} kind="price"><b>The budget is spent.</b> Saved answers stay free; nothing new is answered.</${Note}>`;
  const named = spent.slice(0, SHOWN).map((each) => key(each.months)).join(", "), rest = spent.length - SHOWN;
  return html`<${Note} kind="price"><b>Spent for some months: ${named}${rest > 0 && ` and ${rest} more`}.</b> Queries about other months are still answered. Saved answers stay free.</${Note}>`;
}

function Row({ each }) {
  const { letter, remaining, total } = held(each);
  return html`<tr><th scope="row" class="nowrap">${key(each.months)}</th>
    <td class="wide"><${Meter} spent=${total - remaining} total=${total} label=${`Spent ${letter} = ${amount(total - remaining)} of ${amount(total)}`} /></td>
    <td class="right num nowrap"><b class="priced">${letter} ${amount(remaining)}</b> of ${amount(total)}</td></tr>`;
}

/** What remains for each month, as a table that can be scrolled with keys. */
export function Months({ months, isOwner }) {
  return html`<${Card} id="months" title="By month" actions=${html`<span class="small soft">Months with the same charges stand together.</span>`}
    footer=${html`<span>A query is charged to the months that it reads. To charge few months, state a first and a last month in WHERE.</span>`}>
    <div class="by-month" tabindex="0" role="group" aria-labelledby="months-title"><table class="tight"><caption class="vh">What remains for ${isOwner ? "everyone together" : "you"}, by month</caption>
      <thead><tr><th scope="col">Months</th><th scope="col" class="wide">Spent</th><th scope="col" class="right">Remaining</th></tr></thead>
      <tbody>${months.map((each) => html`<${Row} key=${each.months} each=${each} />`)}</tbody></table></div></${Card}>`;
}
