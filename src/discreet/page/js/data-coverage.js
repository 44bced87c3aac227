// What share of a table answers use: as it was measured, or a measurement with its cost first.
import { get, post } from "/page/js/api.js";
import { amount, eps, key, number } from "/page/js/format.js";
import { base, mayAsk, refreshBudget, say } from "/page/js/state.js";
import { Button, Dialog, Failure, useLoaded } from "/page/js/ui.js";
import { html, useState } from "/page/vendor/preact.js";

const percent = (share) => `${number(Number((100 * share).toPrecision(3)))}%`;
const interval = (share) => `${percent(share.low)} to ${percent(share.high)}`;

function Measured({ found }) {
  const clamped = found.columns.filter((each) => each.below.high > 0 || each.above.high > 0);
  return html`<div><p class="label">Share of rows that are used</p>
    <p class="v">${found.rows ? `about ${percent(found.rows.estimate)}` : found.largest === null ? "all" : "not known"}</p>
    <p class="small soft">${found.rows ? `${interval(found.rows)}, ${percent(found.rows.confidence)} of the time. ` : ""}Measured for ${eps(found.price.epsilon)}, with noise.
      ${found.months_per_unit && ` It is about rows in used months: the first ${found.months_per_unit === 1 ? "month" : `${number(found.months_per_unit)} months`} of each privacy unit.`}${found.without_month && ` Rows where ${found.without_month} are in none of these shares.`}</p>
    ${clamped.length > 0 && html`<details class="small soft"><summary>Values outside their bounds</summary><ul>
      ${clamped.map((each) => html`<li key=${each.name}><code>${key(each.name)}</code>: ${interval(each.below)} below ${number(each.low)}, ${interval(each.above)} above ${number(each.high)}</li>`)}</ul></details>`}</div>`;
}

function MeasureDialog({ table, cost, onDone, onClose }) {
  const [epsilon, setEpsilon] = useState(String(cost.epsilon));
  const [error, setError] = useState(null);
  const [isBusy, setBusy] = useState(false);
  const send = async (event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const found = await post(`${base.value}/coverage`, { table: table.name, epsilon: epsilon.trim() });
      say(found.was_kept ? "It was measured before: nothing was spent." : `Measured. Spent ${eps(found.price.epsilon)}.`);
      await refreshBudget();
      onDone();
      event.target.closest("dialog").close();
    } catch (problem) { setError(problem); setBusy(false); }
  };
  const wanted = Number(epsilon);
  return html`<${Dialog} title=${`Measure the coverage of ${key(table.name)}`} onClose=${onClose}><form class="stack" onSubmit=${send}>
    <p class="soft">Limits and bounds leave something out. This measures, with noise, what share of rows and values that is. Every answer says it from then on, and it is free for everyone.</p>
    <label class="field"><span>Cost, ε</span><input class="input" name="epsilon" required inputmode="decimal" pattern="[0-9]+([.][0-9]+)?" title="A number such as 0.1" value=${epsilon} onInput=${(event) => setEpsilon(event.target.value)} /></label>
    <p class="small muted">The more it costs, the more exact it is. It is spent once; if it was measured at this cost before, it is free.</p>
    ${error && html`<${Failure} error=${error} />`}
    <div class="btns"><${Button} kind="pay" type="submit" disabled=${isBusy || !(wanted > 0)}>${isBusy ? "Measuring…" : wanted > 0 ? `Measure for ε ${amount(wanted)}` : "Measure"}</${Button}></div></form></${Dialog}>`;
}

/** One fact of a table: its coverage. */
export function Coverage({ table }) {
  const [isAsking, setAsking] = useState(false);
  const { value, error, again } = useLoaded(() => get(`${base.value}/coverage?table=${encodeURIComponent(table.name)}`), [base.value, table.name]);
  if (error || !value) return html`<div><p class="label">Share of rows that are used</p><p class="small soft">${error ? `${error.message}.` : "…"}</p></div>`;
  if (value.measured) return html`<${Measured} found=${value.measured} />`;
  if (!value.cost) return html`<div><p class="label">Share of rows that are used</p><p class="v">all</p><p class="small soft">No limit leaves rows out, and no column has bounds.</p></div>`;
  return html`<div><p class="label">Share of rows that are used</p><p class="v">not measured</p>
    <p class="small soft">The limits may leave rows out. How many is not known.</p>
    ${mayAsk.value && html`<p><${Button} kind="slim priced" onClick=${() => setAsking(true)}>Measure it…</${Button}></p>`}
    ${isAsking && html`<${MeasureDialog} table=${table} cost=${value.cost} onDone=${again} onClose=${() => setAsking(false)} />`}</div>`;
}
