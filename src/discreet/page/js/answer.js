// An answer: its table with margins, its chart, what was left out, what it cost, and what can be done with it.
import { get } from "/page/js/api.js";
import { Chart } from "/page/js/charts.js";
import { keyText, keysOf, kindOf, numbersOf } from "/page/js/charts-shape.js";
import { AddToBoard } from "/page/js/answer-board.js";
import { amount, count, decimalsFor, delta, eps, key, margin, number } from "/page/js/format.js";
import { Icon } from "/page/js/icons.js";
import { months, say } from "/page/js/state.js";
import { Button, Choice, Line, Menu, copied } from "/page/js/ui.js";
import { Fragment, html, useEffect, useState } from "/page/vendor/preact.js";

const MOST_ROWS = 1000;
const CONFIDENCES = [[0.8, "80%"], [0.95, "95%"], [0.99, "99%"]];
const percent = (confidence) => `${Number((100 * confidence).toPrecision(4))}%`;

/** An answer with its margins at another confidence, as the server has sent them. */
export function withMargins(answer, margins, confidence) {
  if (!margins) return answer;
  const errors = Object.fromEntries(answer.columns.map((each, i) => [each.name, margins[i]]).filter(([name, each]) => each && answer.errors[name]));
  return { ...answer, errors: { ...answer.errors, ...errors }, confidence, intervalConfidence: answer.confidence };
}

// Squares are hatched where the margin is more than a third of the number.
const isVague = (answer, { name }) => {
  const at = answer.columns.findIndex((each) => each.name === name);
  return answer.rows.some((row, i) => typeof row[at] === "number" && !(answer.errors[name]?.[i] <= Math.abs(row[at]) / 3));
};

// Numbers of one column have their decimal points below each other: what is missing is filled with unseen zeros.
const decimals = (text) => text.split(".")[1]?.length ?? 0;
function Padded({ text, most }) {
  const missing = most - decimals(text);
  return html`<${Fragment}>${text}${missing > 0 && html`<span class="unseen" aria-hidden="true">${decimals(text) ? "" : "."}${"0".repeat(missing)}</span>`}</${Fragment}>`;
}

function shownColumn(answer, column, at) {
  const errors = answer.errors[column.name], ends = answer.intervals[column.name];
  const isNumber = column.type === "integer" || column.type === "real";
  const cells = answer.rows.map((row, i) => {
    const half = typeof errors?.[i] === "number" ? errors[i] : null;
    const value = typeof row[at] === "number" && isNumber ? number(row[at], column.type === "integer" ? 0 : half ? decimalsFor(half) : undefined) : keyText(row[at]);
    const error = errors?.[i] === "Infinity" ? "no limit" : errors ? margin(half) : ends?.[i] ? `${number(ends[i][0])} to ${number(ends[i][1])}` : "";
    return { value: row[at] === null ? html`<span class="muted">NULL</span>` : value, text: String(value), error };
  });
  const deep = Math.max(0, ...cells.map((each) => decimals(each.text))), deepError = errors ? Math.max(0, ...cells.map((each) => decimals(each.error))) : 0;
  const heading = errors ? `± ${percent(answer.confidence)}` : ends ? `${percent(answer.intervalConfidence ?? answer.confidence)} interval` : "";
  return { column, isKey: column.role === "key" || !isNumber, cells, deep, deepError, heading };
}

/** Group keys on the left, numbers on the right, each followed by its margin of error. */
export function AnswerTable({ answer, caption = "Answer" }) {
  const columns = answer.columns.map((each, at) => shownColumn(answer, each, at));
  const shown = Math.min(answer.rows.length, MOST_ROWS);
  return html`<${Fragment}><table class="tight answers"><caption class="vh">${caption}</caption>
    <thead><tr>${columns.map(({ column, isKey, heading }, i) => html`<${Fragment} key=${i}>
      <th scope="col" class=${isKey ? "" : "right"}>${key(column.name)}</th>${heading && html`<th scope="col" class="right">${heading}</th>`}</${Fragment}>`)}</tr></thead>
    <tbody>${answer.rows.slice(0, shown).map((_, r) => html`<tr key=${r}>${columns.map(({ isKey, cells, deep, deepError, heading }, i) => html`<${Fragment} key=${i}>
      <td class=${isKey ? "" : "est"}>${isKey || typeof cells[r].value !== "string" ? cells[r].value : html`<${Padded} text=${cells[r].value} most=${deep} />`}</td>
      ${heading && html`<td class="pm"><${Padded} text=${cells[r].error} most=${deepError} /></td>`}</${Fragment}>`)}</tr>`)}</tbody></table>
    ${answer.rows.length > shown && html`<p class="small muted more">${number(shown)} of ${count(answer.rows.length, "row")} are shown. Downloads have all of them.</p>`}</${Fragment}>`;
}

/** One row of numbers, in large type. */
function Large({ answer }) {
  const columns = answer.columns.map((each, at) => shownColumn(answer, each, at));
  return html`<div class="large">${columns.map(({ column, cells, heading }) => html`<div key=${column.name}>
    <div class="label mono">${key(column.name)}</div>
    <div class="bignum">${cells[0].value} ${cells[0].error && html`<small>${cells[0].error}</small>`}</div>
    ${heading && html`<p class="small soft">${answer.errors[column.name]
      ? `The exact number is within ${cells[0].error} of this ${percent(answer.confidence)} of the time. This covers the noise only.`
      : `The exact number is in this interval ${percent(answer.intervalConfidence ?? answer.confidence)} of the time.`}</p>`}</div>`)}</div>`;
}

/** What was left out and what was clamped, in the server's words. */
export function Notes({ answer }) {
  if (!answer.notes.length) return null;
  return html`<ul class="notes small soft">${answer.notes.map((each) => html`<li key=${each}><${Line} text=${each} /></li>`)}</ul>`;
}

/** What it cost, what remains, and that repeating it is free. */
export function Receipt({ answer, isSaved = false }) {
  const { charged, price, remaining } = answer;
  const also = (each) => (each.delta > 0 ? `, δ ${delta(each.delta)}` : "");
  const isFree = answer.is_free || charged.epsilon === 0;
  const spent = isFree ? price.epsilon > 0 ? html`Spent <b>nothing</b>: this is a saved answer` : html`<b>Free</b>: no private data were read`
    : html`${isSaved ? "Saved answer: it cost" : "Spent"} <b>${eps(charged.epsilon)}${also(charged)}</b>`;
  return html`<div class="receipt"><span>${spent}</span>
    ${!isSaved && html`<span>Remaining <b>${eps(remaining.epsilon)}</b> of ${amount(remaining.total_epsilon)}${months.value && " for the months that it read"}</span>`}
    <span>Repeating this query is free</span></div>`;
}

function python(catalog, answer, terms) {
  const [[name, value]] = Object.entries(terms);
  const given = typeof value === "object" ? JSON.stringify(Object.fromEntries(Object.entries(value).map(([k, v]) => [k, Number(v)]))) : value;
  const text = /"""|\\/.test(answer.question) ? JSON.stringify(answer.question) : `"""\n${answer.question}\n"""`;
  return `import discreet\n\nserver = discreet.connect("${location.origin}", catalog=${JSON.stringify(catalog)})  # the token is in DISCREET_TOKEN\nanswer = server.ask(${text}, ${name}=${given})\nprint(answer)\n`;
}

function Actions({ id, catalog, base, answer, terms, view, setView, hasChart }) {
  const [isAdding, setAdding] = useState(false);
  const copy = async (text, done) => say(await copied(text) ? done : "The browser did not allow to copy.");
  const link = `${location.origin}/answers/${encodeURIComponent(catalog)}/${id}`;
  return html`<${Fragment}>
    ${hasChart && html`<span class="wide"><${Choice} label="Show" options=${[["both", "Both"], ["table", "Table"], ["chart", "Chart"]]} value=${view} onChange=${setView} /></span>`}
    <${Button} icon="board" aria-label="Add to board" onClick=${() => setAdding(true)}><span class="wide">Add to board</span></${Button}>
    <${Button} icon="link" aria-label="Copy link" onClick=${() => copy(link, "Link copied. People who may read this answer can open it free of charge.")}><span class="wide">Copy link</span></${Button}>
    <${Menu} kind="" label="Download or copy" button=${html`<${Icon} name="down" /><span class="wide">Download</span>`} items=${[
      ["CSV", `${base}/answers/${id}?format=csv`, "with margins"], ["JSON", `${base}/answers/${id}?format=json`, ""],
      ["Parquet", `${base}/answers/${id}?format=parquet`, "with margins"],
      ["Copy as Python", () => copy(python(catalog, answer, terms), "Copied: discreet.connect(…).ask(…)"), ""]]} />
    ${isAdding && html`<${AddToBoard} id=${id} base=${base} answer=${answer} onClose=${() => setAdding(false)} />`}</${Fragment}>`;
}

function Figure({ answer, ghost, confidence, onConfidence, ghostLabel }) {
  const numbers = numbersOf(answer), kind = kindOf(answer), [name, setName] = useState(null);
  const column = numbers.find((each) => each.name === name) ?? numbers[0], keys = keysOf(answer).map((each) => each.name);
  const hasGhost = ghost && (kind === "single" ? numbers.some((each) => ghost[each.name]) : ghost[column.name]) && kind !== "heat" && kind !== "lines";
  return html`<div class="figure">
    <div class="figure-head"><h3>${kind === "single" ? "Where the exact number is" : `${key(column.name)} by ${keys.map(key).join(" and ")}`}</h3>
      ${numbers.length > 1 && kind !== "single" && html`<${Choice} label="Column of the chart" options=${numbers.slice(0, 4).map((each) => [each.name, key(each.name)])} value=${column.name} onChange=${setName} />`}
      <${Choice} label="Confidence" options=${CONFIDENCES} value=${confidence} onChange=${onConfidence} /></div>
    <${Chart} answer=${answer} column=${column} ghost=${hasGhost ? ghost : null} />
    <div class="legend">${kind === "heat" ? html`<span><i class="sw" />darker is more</span>${isVague(answer, column) && html`<span>hatched: ± is more than a third of the number</span>`}`
      : kind === "lines" || kind === "line" ? html`<span><i class="sw" />answer</span><span><i class="sw fade" />within ± ${percent(answer.confidence)}</span>`
      : kind === "single" ? html`<span><i class="sw fade" />contains the exact number ${percent(answer.confidence)} of the time</span>`
      : html`<span><i class="sw" />up to the low end of ±</span><span><i class="sw fade" />within ± ${percent(answer.confidence)}</span>`}
      ${hasGhost && html`<span class="priced"><i class="sw ghost" />${ghostLabel}</span>`}</div></div>`;
}

/** Margins at another confidence; the server calculates them, and they are free. */
function useMargins(base, id, answer) {
  const [confidence, setConfidence] = useState(answer.confidence);
  const [margins, setMargins] = useState(null);
  useEffect(() => { setConfidence(answer.confidence); setMargins(null); }, [id]);
  const choose = async (wanted) => {
    if (wanted === answer.confidence) { setMargins(null); setConfidence(wanted); return; }
    try {
      setMargins((await get(`${base}/answers/${id}/margins?confidence=${wanted}`)).margins);
      setConfidence(wanted);
    } catch (error) { say(`${error.message}. ${error.remedy}`); }
  };
  return { confidence, choose, shown: confidence === answer.confidence ? answer : withMargins(answer, margins, confidence) };
}

const NO_GROUP = "No group had enough rows to be shown. List the groups in the query, or spend more.";

/** The whole card of an answer. */
export function AnswerCard({ id, base, catalog, answer, terms, title = "Answer", view, setView, ghost, ghostLabel, isSaved = false, extra }) {
  const { confidence, choose, shown } = useMargins(base, id, answer);
  const kind = kindOf(answer), hasChart = kind !== "none", isLarge = !keysOf(answer).length && answer.rows.length === 1 && answer.columns.length <= 4;
  const tag = answer.is_free || isSaved ? html`<span class="tag answer"><${Icon} name="check" size="12" /> ${answer.price.epsilon > 0 ? "saved answer, free" : "free"}</span>`
    : html`<span class="tag price">spent ${eps(answer.charged.epsilon)}</span>`;
  return html`<section class="card answer" aria-labelledby="answer-title">
    <header><h2 id="answer-title" tabindex="-1">${title}</h2>${tag}${extra}
      <${Actions} id=${id} catalog=${catalog} base=${base} answer=${answer} terms=${terms} view=${view} setView=${setView} hasChart=${hasChart} /></header>
    ${answer.rows.length === 0 ? html`<div class="empty"><h3>No groups are shown</h3><p>${NO_GROUP}</p></div>`
      : html`<div class=${`split ${hasChart ? `show-${view}` : "show-table"}`}>
        <div class=${`tabled ${view === "chart" && hasChart ? "vh" : ""}`} tabindex="0" role="region" aria-label="Table of the answer">${isLarge ? html`<${Large} answer=${shown} />` : html`<${AnswerTable} answer=${shown} />`}</div>
        ${hasChart && html`<${Figure} answer=${shown} ghost=${confidence === 0.95 ? ghost : null} ghostLabel=${ghostLabel} confidence=${confidence} onConfidence=${choose} />`}</div>`}
    <footer><${Receipt} answer=${answer} isSaved=${isSaved} /><${Notes} answer=${answer} /></footer></section>`;
}
