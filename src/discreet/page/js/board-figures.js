// What a card shows of an answer: one number in large type, a chart, or a table.
import { decimalsFor, key, margin, number } from "/page/js/format.js";
import { html, useEffect, useState } from "/page/vendor/preact.js";

const parts = Promise.all([import("/page/js/charts.js"), import("/page/js/answer.js")])
  .then(([{ Chart }, { AnswerTable }]) => ({ Chart, AnswerTable }), () => ({ AnswerTable: PlainTable }));

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

function PlainTable({ answer }) {
  return html`<table class="tight"><thead><tr>${answer.columns.map((each) => html`<th key=${each.name} scope="col" class=${each.role === "key" ? "" : "right"}>${key(each.name)}</th>`)}</tr></thead>
    <tbody>${answer.rows.slice(0, 200).map((_, row) => html`<tr key=${row}>${answer.columns.map((each) => each.role === "key"
      ? html`<td key=${each.name}>${valueOf(answer, each, row)}</td>`
      : html`<td key=${each.name} class="right num">${valueOf(answer, each, row)} <span class="muted">${errorOf(answer, each, row)}</span></td>`)}</tr>`)}</tbody></table>`;
}

/** An answer in a card. In the view "chart" the table stays for screen readers. */
export function Figure({ answer, view, title }) {
  const [drawn, setDrawn] = useState(null);
  useEffect(() => { parts.then(setDrawn); }, []);
  if (!answer.rows.length) return html`<p class="small soft">No group had enough rows to be shown.</p>`;
  if (isNumber(answer)) return html`<${Numbers} answer=${answer} />`;
  if (!drawn) return null;
  const { Chart, AnswerTable } = drawn;
  const hasChart = Chart && view !== "table";
  return html`${hasChart && html`<${Chart} answer=${answer} confidence=${answer.confidence} />`}
    <div class=${`wrap-x tabled ${hasChart && view === "chart" ? "vh" : ""}`} role="region" tabindex="0" aria-label=${`Table of ${title}`}><${AnswerTable} answer=${answer} /></div>`;
}
