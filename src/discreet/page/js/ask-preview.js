// Between the query and its button: what it would cost and show, or why it is rejected. Free, and no data are read.
import { due, epsilon, explainAgain, isReady, isTooMuch, left as remains, mode, openQuery, name, preview, rounded, run, runQuery, sql } from "/page/js/ask-store.js";
import { amount, count, delta, eps, key } from "/page/js/format.js";
import { Icon } from "/page/js/icons.js";
import { MOD } from "/page/js/shell.js";
import { isOwner } from "/page/js/state.js";
import { Button, Line, Meter } from "/page/js/ui.js";
import { Fragment, html, useEffect, useState } from "/page/vendor/preact.js";

/** Run; copper when it spends, petrol when it is free, so that nobody spends by accident. */
export function RunButton() {
  const charged = due.value, isBusy = run.value.state === "running" || run.value.state === "waiting";
  const isFree = charged && charged.epsilon === 0 && charged.delta === 0;
  const words = isBusy ? "Running…" : isTooMuch.value ? "Not enough budget" : preview.value.state !== "ready" ? "Run" : isFree ? "Run, free" : `Run for ${eps(charged.epsilon)}`;
  const canRun = preview.value.state === "ready" && !isTooMuch.value && !isBusy;
  return html`<button type="button" class=${`btn big run ${canRun ? (isFree ? "free" : "pay") : ""}`} disabled=${!canRun} aria-keyshortcuts="Control+Enter"
    onClick=${() => isReady.value && runQuery()}>${words} ${canRun && html`<kbd class="wide">${MOD} ↵</kbd>`}</button>`;
}

function Cost({ explained }) {
  const charged = due.value, left = explained.remaining ?? remains.value;
  const isFree = charged.epsilon === 0 && charged.delta === 0;
  const words = !isFree ? `${eps(charged.epsilon)}${charged.delta > 0 ? `, δ ${delta(charged.delta)}` : ""}` : explained.price.epsilon > 0 ? "nothing: saved answer" : "nothing: public tables";
  const spent = left.total_epsilon - left.epsilon;
  return html`<div class="cell cost"><div class="label">Costs</div><div class=${`v ${isFree ? "" : "priced"}`}>${words}</div>
    <${Meter} spent=${spent} next=${charged.epsilon} total=${left.total_epsilon} label=${`Budget: ε ${amount(spent)} spent, ε ${amount(charged.epsilon)} for this query, of ${amount(left.total_epsilon)}`} />
    <div class="d">${isTooMuch.value ? `${eps(left.epsilon)} remains` : isFree && explained.price.epsilon > 0 ? `a new answer would cost ${eps(explained.price.epsilon)}` : `leaves ${eps(left.epsilon - charged.epsilon)} of ${amount(left.total_epsilon)}`}</div></div>`;
}

// A whisker on a log scale, so that one sees a factor of ten.
function Ruler({ half }) {
  const wide = Math.max(6, Math.min(100, 22 * Math.log10(half + 1)));
  return html`<svg class="rule" width="100%" height="9" viewBox="0 0 100 9" preserveAspectRatio="none" aria-hidden="true">
    <path d=${`M0.5 4.5H${wide} M0.5 0.5v8 M${wide} 0.5v8`} vector-effect="non-scaling-stroke" /></svg>`;
}

function Column({ column, isGrouped, confidence }) {
  const [first, ...rest] = column.spread.split(" (");
  const more = rest.length ? `${rest.join(" (").replace(/\)$/, "")}, where n is the number of rows` : "";
  return html`<div class="cell"><div class="label"><span class="mono">${column.name === "–" ? column.statistic : key(column.name)}</span> margin of error</div>
    <div class="v">${first}</div>${column.margin !== null && html`<${Ruler} half=${column.margin} />`}
    <div class="d">${more || (column.margin !== null ? `${isGrouped ? "in each group, " : ""}${Math.round(100 * confidence)}% of the time` : "")}</div></div>`;
}

function Groups({ explained }) {
  const number = explained.groups[0], isHidden = explained.groups.includes(null);
  const words = isHidden ? "not declared" : number === 1 ? "one number" : `${count(number, "group")}`;
  const more = isHidden ? "only large groups are shown" : number === 1 ? "" : "all shown, even those with no rows";
  return html`<div class="cell"><div class="label">Groups</div><div class="v">${words}</div><div class="d">${more}</div></div>`;
}

const forMonths = (explained) => (explained.months ? ` for ${explained.months}` : "");

// With a budget per month: which months are charged, and what that protects.
function Charged({ explained }) {
  if (!explained.months) return null;
  return html`<div class="covers"><${Icon} name="clock" size="15" /><div><p>Charged to <b>${explained.months}</b>. Protects ${explained.protects}.</p></div></div>`;
}

// What is left out, in the server's words; the first is always in sight.
function Covers({ explained }) {
  const keys = explained.groups.includes(null) ? explained.keys : [];
  const first = [...explained.bounding, ...explained.first, ...keys];
  return html`<${Fragment}>
    ${explained.warnings.map((each) => html`<div key=${each} class="covers warn"><${Icon} name="info" size="15" /><span>${each}</span></div>`)}
    ${first.length > 0 && html`<div class="covers"><${Icon} name="people" size="15" /><div>${first.map((each) => html`<p key=${each}><${Line} text=${each} /></p>`)}</div></div>`}
    ${explained.change && html`<div class="covers"><span>${explained.change}</span></div>`}
    <${Why} explained=${explained} /></${Fragment}>`;
}

function Why({ explained }) {
  const reasons = explained.columns.filter((each) => each.noise);
  if (!reasons.length && !explained.sql.length) return null;
  const hints = [...explained.left_out, ...(explained.groups.includes(null) ? [] : explained.keys), explained.later, ...explained.hints].filter(Boolean);
  return html`<details class="covers why"><summary><${Icon} name="caret" size="14" />What is left out, which noise is added, and the generated SQL</summary>
    ${hints.length > 0 && html`<ul>${hints.map((each) => html`<li key=${each}>${each}</li>`)}</ul>`}
    <ul>${reasons.map((each, i) => html`<li key=${i}><span class="mono">${each.name === "–" ? each.statistic : key(each.name)}</span>: ${each.noise}. ${each.why}</li>`)}</ul>
    ${explained.sql.map((each, i) => html`<pre key=${i} class="sql" tabindex="0" aria-label="Generated SQL">${each}</pre>`)}</details>`;
}

function Strip({ explained, isOld, onRequest }) {
  const left = remains.value?.epsilon ?? 0, isGrouped = explained.groups.some((each) => each !== 1);
  const columns = explained.columns.filter((each) => each.name !== "(groups)");
  return html`<div class=${`preview ${isOld ? "old" : ""}`}>
    <div class="strip"><${Cost} explained=${explained} />
      ${columns.slice(0, 4).map((each, i) => html`<${Column} key=${i} column=${each} isGrouped=${isGrouped} confidence=${explained.confidence} />`)}
      ${columns.length > 4 && html`<div class="cell"><div class="label">And</div><div class="v">${columns.length - 4} more</div></div>`}
      ${explained.groups.length > 0 ? html`<${Groups} explained=${explained} />` : html`<div class="cell"><div class="label">Answer</div><div class="v">exact</div><div class="d">public tables need no noise</div></div>`}
      <div class="cell go"><${RunButton} /></div></div>
    ${isTooMuch.value && html`<div class="covers warn"><${Icon} name="info" size="15" /><span><b>${left > 0 ? `This costs more than remains${forMonths(explained)}.` : `The budget is used up${forMonths(explained)}.`}</b>
      ${left > 0 ? isOwner.value ? " Spend less." : " Spend less, or ask the data owner for more." : " Saved answers stay free. New queries need more budget."}</span>
      ${left >= 0.0001 && html`<${Button} onClick=${() => { mode.value = "cost"; epsilon.value = rounded(left, 2, Math.floor); }}>Lower to ${eps(rounded(left, 2, Math.floor))}</${Button}>`}
      ${!isOwner.value && html`<${Button} onClick=${onRequest}>Request more</${Button}>`}</div>`}
    <${Charged} explained=${explained} /><${Covers} explained=${explained} /></div>`;
}

/** Apply a rewrite that the server offers. */
export function applyFix(fix) {
  openQuery(fix.sql, name.value);
}

function Rejection({ error, isOld, onFocusEditor }) {
  const fixes = error.details.fixes ?? [], place = error.place;
  const end = (words) => (words ? /[.?!]$/.test(words) ? words : `${words}.` : "");
  return html`<div class=${`rejection ${isOld ? "old" : ""}`}><${Icon} name="stop" size="18" /><h3>${end(error.message)}</h3>
    <p>${end(error.remedy)} ${place && html`<span class="nowrap">Line ${place.line}, column ${place.column}.</span>`} A rejected query costs nothing.</p>
    ${(fixes.length > 0 || mode.value === "margin" && !place) && html`<div class="btns">${fixes.map((each, i) => html`<button type="button" key=${i} class="btn fix"
      onClick=${() => { applyFix(each); onFocusEditor(); }}>${each.label}</button>`)}
      ${mode.value === "margin" && !place && html`<${Button} onClick=${() => { mode.value = "cost"; }}>Set the cost instead</${Button}>`}</div>`}</div>`;
}

/** What is shown between the query and the answer. */
export function Preview({ onRequest, onFocusEditor }) {
  const { state, explained, error, isOld } = preview.value;
  if (state === "rejected") return html`<${Rejection} error=${error} isOld=${isOld} onFocusEditor=${onFocusEditor} />`;
  if (state === "ready") return html`<${Strip} explained=${explained} isOld=${isOld} onRequest=${onRequest} />`;
  if (state === "failed") {
    return html`<div class="preview"><div class="covers warn"><${Icon} name="info" size="15" /><span><b>There is no preview at the moment.</b> ${error.message}. You can run the query when it is back.</span>
      <${Button} onClick=${explainAgain}>Try again</${Button}></div></div>`;
  }
  return html`<div class="preview"><div class="covers">${sql.value.trim() ? "Making the preview…" : "Write a query, or try one of those above. The preview is free and reads no data."}</div></div>`;
}

/** The bar with the button on a phone. */
export function RunBar() {
  const { state, explained } = preview.value, charged = due.value;
  const column = explained?.columns.find((each) => each.margin !== null && each.name !== "(groups)");
  const isFree = charged && charged.epsilon === 0;
  return html`<div class="runbar"><div>${state === "rejected" ? html`<b>Rejected</b><br />costs nothing` : !charged ? html`<b>No query</b>`
    : isFree ? html`<b>Free</b><br />${explained.price.epsilon > 0 ? "saved answer" : "public tables"}`
    : html`<b>${column ? column.spread.split(" (")[0] : "±"}</b> ${column ? key(column.name).slice(0, 12) : ""}<br />leaves ${eps(Math.max(0, (remains.value?.epsilon ?? 0) - charged.epsilon))}`}</div><${RunButton} /></div>`;
}

/** Speak the preview once typing rests. */
export function Spoken() {
  const [words, setWords] = useState("");
  const { state, explained, error, isOld } = preview.value, charged = due.value;
  useEffect(() => {
    if (isOld) return undefined;
    const timer = setTimeout(() => setWords(state === "rejected" ? `Rejected: ${error.message}. ${error.remedy}` : state === "ready"
      ? `Costs ${charged.epsilon > 0 ? `epsilon ${amount(charged.epsilon)}` : "nothing"}${explained.months ? `, charged to ${explained.months}` : ""}. ${explained.columns.map((each) => `${each.name} ${each.spread.replace("±", "plus or minus ")}`).join(", ")}.` : ""), 500);
    return () => clearTimeout(timer);
  }, [preview.value]);
  return html`<div class="vh" role="status" aria-live="polite">${words}</div>`;
}
