// The step about columns: their types, bounds and values, all of which are public.
import { key } from "/page/js/format.js";
import { ROW, Step } from "/page/js/add-data-steps.js";
import { html } from "/page/vendor/preact.js";

const TYPES = ["integer", "real", "text", "boolean", "date", "timestamp", "timestamp with time zone"];
const NUMBERS = new Set(["integer", "real"]);
const TIMES = new Set(["date", "timestamp", "timestamp with time zone"]);

/** 'east, "a, b"' as ["east", "a, b"]. */
export function listed(text) {
  return [...text.matchAll(/"((?:[^"]|"")*)"|([^,"]+)/g)]
    .map(([, quoted, plain]) => (quoted === undefined ? plain.trim() : quoted.replaceAll('""', '"'))).filter(Boolean);
}

const isOrdered = ({ type, low, high }) => (NUMBERS.has(type) ? Number(low) < Number(high) : low < high);

/** Whether both ends of the bounds are written and in order. */
export const hasBounds = (column) => Boolean(column.low.trim() && column.high.trim() && isOrdered(column)
  && (!NUMBERS.has(column.type) || [column.low, column.high].every((each) => Number.isFinite(Number(each)))));

/** What is declared of each column, as the server takes it; `isWhole` leaves out what is half written. */
export function declaredColumns(columns, isWhole = false) {
  return Object.fromEntries(columns.filter((each) => each.type !== "other").map((each) => {
    const found = { type: each.type };
    const isBounded = NUMBERS.has(each.type) || TIMES.has(each.type);
    if (isBounded && (isWhole ? hasBounds(each) : each.low.trim() || each.high.trim())) found.bounds = [each.low.trim(), each.high.trim()];
    if (each.type === "text" && listed(each.values).length) found.values = listed(each.values);
    return [each.name, found];
  }));
}

function allows(column, isUnit) {
  if (isUnit) return "count them";
  if (column.type === "boolean") return "group, filter, count";
  if (NUMBERS.has(column.type)) return hasBounds(column) ? "sum, average, group by ranges" : "filter, count";
  if (TIMES.has(column.type)) return hasBounds(column) ? "group by month, week, day" : "filter, count";
  if (column.type === "text") return listed(column.values).length ? "group: every value is shown" : "group: rare values stay hidden";
  return "count";
}

export function ColumnsStep({ form, change }) {
  const set = (name, what) => change({ columns: form.columns.map((each) => (each.name === name ? { ...each, ...what } : each)) });
  return html`<${Step} number=${form.unit === ROW ? 3 : 4} id="columns" title="What is public about the columns">
    <p>Bounds let a column be summed and averaged; values outside are clamped. Listed values let it be grouped without hiding any of them.
      Leave empty what you do not know: it can be found privately later.</p>
    ${form.guessed && html`<p>The types are guessed from the first 1,000 rows. Check them: a value that does not fit its type counts as NULL.</p>`}
    <div class="card colset" role="table" aria-label="Columns"><div role="row" class="colhead"><span role="columnheader">Column</span><span role="columnheader">Type</span>
      <span role="columnheader">Bounds or values</span><span role="columnheader">So analysts can</span></div>
      ${form.columns.map((each) => html`<div role="row" class="col" key=${each.name}>
        <span role="cell" class="mono name">${key(each.name)}</span>
        <span role="cell">${each.type === "other" ? html`<span class="small soft">other</span>` : html`<select class="input" aria-label=${`Type of ${key(each.name)}`} value=${each.type}
          onChange=${(event) => set(each.name, { type: event.target.value, low: "", high: "", values: "" })}>${TYPES.map((type) => html`<option key=${type} value=${type}>${type}</option>`)}</select>`}</span>
        <span role="cell"><${Facts} column=${each} isUnit=${each.name === form.unit} set=${(what) => set(each.name, what)} /></span>
        <span role="cell" class="small soft">${allows(each, each.name === form.unit)}</span></div>`)}</div></${Step}>`;
}

function Facts({ column, isUnit, set }) {
  const name = key(column.name), kind = column.type === "date" ? "date" : TIMES.has(column.type) ? "datetime-local" : "text";
  const end = (which, words) => html`<input class="input" type=${kind} inputmode=${kind === "text" ? "decimal" : undefined} aria-label=${`${name} ${words}`}
    pattern=${kind === "text" ? "-?[0-9]+([.][0-9]+)?" : undefined} value=${column[which]} onInput=${(event) => set({ [which]: event.target.value })} />`;
  if (isUnit) return html`<span class="small muted">identifies whom you protect: never shown</span>`;
  if (NUMBERS.has(column.type) || TIMES.has(column.type)) {
    return html`<span class=${`two ${kind === "text" ? "" : "times"}`}>${end("low", "lowest")}<span class="muted">to</span>${end("high", "highest")}</span>`;
  }
  if (column.type === "text") {
    return html`<input class="input" aria-label=${`Values of ${name}, separated by commas`} placeholder="not listed" value=${column.values}
      onInput=${(event) => set({ values: event.target.value })} />`;
  }
  return html`<span class="small muted">${column.type === "boolean" ? "true, false" : "none"}</span>`;
}
