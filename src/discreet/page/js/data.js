// Data: tables and columns, who is protected, what one person can change, synthetic rows.
import { get } from "/page/js/api.js";
import { Coverage } from "/page/js/data-coverage.js";
import { Try } from "/page/js/data-try.js";
import { count, key } from "/page/js/format.js";
import { Icon } from "/page/js/icons.js";
import { base, mayAsk, route, schema } from "/page/js/state.js";
import { Button, Card, Empty, Failure, Link, Loading, useLoaded, useStyles } from "/page/js/ui.js";
import { html } from "/page/vendor/preact.js";

const SHOWN_VALUES = 12;
const addressOf = (table) => `/data?table=${encodeURIComponent(table.name)}`;

/** A name as a query writes it: quoted if it has to be. */
const written = (name) => /^[a-z_][a-z0-9_]*$/i.test(name) ? name : `"${name.replaceAll('"', '""')}"`;

/** A query about a table that works. */
export function exampleOf(table) {
  if (!table.is_private) return `SELECT *\nFROM ${written(table.name)}\nLIMIT 20`;
  const by = table.columns.find((each) => each.values);
  const counted = `COUNT(*) AS ${written(`${table.name}_count`)}`;
  return by ? `SELECT ${written(by.name)}, ${counted}\nFROM ${written(table.name)}\nGROUP BY ${written(by.name)}`
    : `SELECT ${counted}\nFROM ${written(table.name)}`;
}

function Tables({ tables, chosen }) {
  return html`<nav class="side" aria-label="Tables">${tables.map((each) => html`
    <${Link} key=${each.name} to=${addressOf(each)} aria-current=${each === chosen ? "true" : undefined}><b>${key(each.name)}</b>
      <small>${each.is_private ? each.unit === "row" ? "protects each row" : `protects each ${key(each.unit)}${each.is_by_month ? ", month by month" : ""}` : "public"}</small></${Link}>`)}</nav>`;
}

function Facts({ table }) {
  if (!table.is_private) {
    return html`<div class="facts"><div><p class="label">Who is protected</p><p class="v">nobody</p>
      <p class="small soft">Anyone may see this table. Queries that read public tables only are exact and free.</p></div></div>`;
  }
  const unit = key(table.unit);
  const [first, ...rest] = table.limits;
  return html`<div class="facts">
    <div><p class="label">Who is protected</p><p class="v">${table.is_by_month ? `one ${unit} in one month` : `each ${unit}`}</p>
      <p class="small soft">${table.unit === "row" ? "with that row" : table.is_by_month ? "with the rows that arrived in that month" : "with all of their rows"}. ${schema.value.promise}.</p></div>
    <div><p class="label">What one ${unit} can change</p>
      <p class="v">${table.unit === "row" ? "one row" : `at most ${count(table.rows_per_unit, "row")}${table.is_by_month ? " in each month" : ""}`}</p>
      <p class="small soft">${[first, ...rest].map((each) => html`<span key=${each}>${key(each)} </span>`)}</p></div>
    <${Coverage} key=${table.name} table=${table} /></div>`;
}

function Declared({ column, table }) {
  const isUnit = table.is_private && column.name.toLowerCase() === table.unit.toLowerCase();
  if (isUnit) return html`<span class="tag answer"><${Icon} name="key" size="12" /> who is protected</span>`;
  if (column.values) {
    const rest = column.values.length - SHOWN_VALUES;
    return html`<span class="vals">${column.values.slice(0, SHOWN_VALUES).map((each) => html`<span class="tag" key=${String(each)}>${key(each)}</span>`)}
      ${rest > 0 && html`<span class="small muted">and ${rest} more</span>`}</span>`;
  }
  if (column.bounds === "auto") return html`<span class="small soft">bounds are found when needed</span>`;
  if (column.bounds) return html`<span class="span num">${column.bounds[0]} <i aria-hidden="true" /><span class="vh">to</span> ${column.bounds[1]}</span>`;
  return html`<span class="small muted">${table.is_private ? "nothing" : "public"}</span>`;
}

function Columns({ table }) {
  return html`<${Card} id="columns" title="Columns" actions=${html`<span class="small soft">${table.columns.length}</span>`}>
    <div class="wrap-x"><table class="coltable"><thead><tr><th scope="col">Column</th><th scope="col">Type</th><th scope="col">Declared</th>${table.is_private && html`<th scope="col">What that does</th>`}</tr></thead>
    <tbody>${table.columns.map((each) => html`<tr key=${each.name}><td class="mono"><b>${key(each.name)}</b></td><td class="small soft nowrap">${each.type}</td>
      <td><${Declared} column=${each} table=${table} /></td>
      ${table.is_private && html`<td class="small soft">${(each.words ?? []).map(key).join(" ")}</td>`}</tr>`)}</tbody></table></div></${Card}>`;
}

function Sample({ table }) {
  const { value, error, again } = useLoaded(() => get(`${base.value}/sample?table=${encodeURIComponent(table.name)}&rows=12`), [base.value, table.name]);
  const mark = table.is_private ? html`<span class="tag synthetic">synthetic</span><span class="small soft">Made from the declarations above. No private row was read.</span>`
    : html`<span class="tag ok">public</span><span class="small soft">The first rows of this table.</span>`;
  return html`<${Card} id="sample" title=${table.is_private ? "Synthetic rows" : "Rows"} actions=${mark}>
    ${error ? html`<div class="body"><${Failure} error=${error} actions=${html`<${Button} onClick=${again}>Try again</${Button}>`} /></div>`
      : !value || value.table !== table.name ? html`<${Loading} rows="6" label="Loading rows" />`
      : html`<div class=${`wrap-x ${value.synthetic ? "hatched" : ""}`} tabindex="0" role="region" aria-label=${value.synthetic ? "Synthetic rows, not real" : "Rows"}><table class="tight">
        <thead><tr>${value.columns.map((each, j) => html`<th scope="col" key=${each} class=${`mono ${typeof value.rows[0]?.[j] === "number" ? "right" : ""}`}>${key(each)}</th>`)}</tr></thead>
        <tbody>${value.rows.map((row, i) => html`<tr key=${i}>${row.map((each, j) => html`<td key=${j} class=${`nowrap num ${typeof each === "number" ? "right" : ""}`}>${each === null ? html`<span class="muted">NULL</span>` : key(each)}</td>`)}</tr>`)}</tbody></table></div>`}</${Card}>`;
}

export default function Data() {
  useStyles("data");
  const tables = schema.value?.tables;
  if (!tables) return html`<div class="page"><h1>Data</h1><${Loading} rows="6" label="Loading the tables" /></div>`;
  const wanted = route.value.query.get("table");
  const table = tables.find((each) => each.name === wanted) ?? tables[0];
  if (!table) return html`<div class="page"><h1>Data</h1><h2 class="vh">Tables</h2><${Empty} title="This catalog has no tables">The data owner declares them.</${Empty}></div>`;
  const example = exampleOf(table);
  return html`<div class="page data"><div class="head"><div><h1>Data</h1>
      <p>What you may ask about, who is protected, and what is public. Nothing on this page was read from private rows.</p></div>
      ${mayAsk.value && html`<${Link} class="btn solid" to=${`/?q=${encodeURIComponent(example)}`}><${Icon} name="ask" /> Ask about ${key(table.name)}</${Link}>`}</div>
    <div class="data-cols"><${Tables} tables=${tables} chosen=${table} />
      <div class="stack">
        <${Card} id="table" title=${key(table.name)} actions=${table.is_private ? html`<span class="tag answer"><${Icon} name="owner" size="12" /> private</span>` : html`<span class="tag ok">public</span>`}><${Facts} table=${table} /></${Card}>
        <${Columns} table=${table} />
        <${Sample} table=${table} />
        ${mayAsk.value && html`<${Try} key=${table.name} example=${example} />`}
      </div></div></div>`;
}
