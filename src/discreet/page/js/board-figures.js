// What a card shows of an answer: one number in large type, a chart, or a table.
import { AnswerTable } from "/page/js/answer.js";
import { Chart } from "/page/js/charts.js";
import { decimalsFor, key, margin, number } from "/page/js/format.js";
import { html } from "/page/vendor/preact.js";

/** One row without group keys: shown as a number. */
export const isNumber = (answer) => answer.rows.length === 1 && answer.columns.length <= 3
  && answer.columns.every((each) => each.role !== "key");

function errorOf(answer, column, row) {
  const ends = answer.intervals?.[column.name]?.[row];
  if (ends) return `${number(ends[0])} to ${number(ends[1])}`;
  return margin(answer.errors?.[column.name]?.[row]);
}

function valueOf(answer, column, row) {
  const value = answer.rows[row][answer.columns.indexOf(column)];
  if (typeof value !== "number") return key(value);
  const half = answer.errors?.[column.name]?.[row];
  return number(value, column.type === "integer" ? 0 : typeof half === "number" ? decimalsFor(half) : undefined);
}

function Numbers({ answer }) {
  return html`<div class="numbers">${answer.columns.map((each) => html`<div key=${each.name}>
    <p class="bignum num">${valueOf(answer, each, 0)} <small>${errorOf(answer, each, 0)}</small></p>
    <p class="small muted">${key(each.name)}</p></div>`)}</div>`;
}

/** An answer in a card. In the view "chart" the table stays for screen readers. */
export function Figure({ answer, view, title }) {
  if (!answer.rows.length) return html`<p class="small soft">No group had enough rows to be shown.</p>`;
  if (isNumber(answer)) return html`<${Numbers} answer=${answer} />`;
  const hasChart = view !== "table";
  return html`${hasChart && html`<${Chart} answer=${answer} />`}
    <div class=${`wrap-x tabled ${hasChart && view === "chart" ? "vh" : ""}`} role="region" tabindex="0" aria-label=${`Table of ${title}`}><${AnswerTable} answer=${answer} /></div>`;
}
