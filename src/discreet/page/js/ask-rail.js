// The rail of the Ask view: tables to insert names from, the history, saved queries.
import { call, get } from "/page/js/api.js";
import { openAnswer, openQuery, turn } from "/page/js/ask-store.js";
import { amount, brief, key, when } from "/page/js/format.js";
import { Icon } from "/page/js/icons.js";
import { declared, writtenName } from "/page/js/names.js";
import { base, say, schema } from "/page/js/state.js";
import { Empty, Failure, Loading, useLoaded } from "/page/js/ui.js";
import { html } from "/page/vendor/preact.js";

const TABS = [["tables", "Tables"], ["history", "History"], ["saved", "Saved"]];

function Tables({ onInsert }) {
  const tables = schema.value?.tables;
  if (!tables) return html`<${Loading} rows="6" label="Loading the tables" />`;
  if (!tables.length) return html`<${Empty} title="No tables yet">The data owner has declared none.</${Empty}>`;
  return html`<div class="tree">${tables.map((table, i) => html`<details key=${table.name} open=${i < 2}>
    <summary><${Icon} name="caret" size="14" /><${Icon} name="table" size="15" /><span class="name">${key(table.name)}</span>${!table.is_private && html`<span class="tag ok">public</span>`}</summary>
    ${table.columns.map((each) => html`<button type="button" key=${each.name} onClick=${() => onInsert(writtenName(each.name))}>
      <span class="vh">Insert </span><span class="mono">${key(each.name)}</span>${" "}<span>${key(declared(each, table))}</span></button>`)}</details>`)}</div>`;
}

const parts = (text) => { const [top, bottom = 1] = String(text).split("/").map(Number); return top / bottom; };
const OUTCOMES = { charged: "", free: "free", repeated: "free", budget: "not enough", unlikely_groups: "not confirmed" };

function History({ onDone }) {
  const { value, error } = useLoaded(() => get(`${base.value}/history?limit=100`), [base.value, turn.value]);
  if (error) return html`<${Failure} error=${error} />`;
  if (!value) return html`<${Loading} rows="6" label="Loading the history" />`;
  const entries = value.entries.filter((each) => each.action === "ask" && (each.sql ?? each.question));
  if (!entries.length) return html`<${Empty} title="No queries yet">Your queries appear here. Opening one again is free.</${Empty}>`;
  const open = async (each) => {
    try {
      if (each.answer) await openAnswer(each);
      else openQuery(each.sql ?? each.question);
      onDone();
    } catch (found) { say(`${found.message}. ${found.remedy}`); }
  };
  return html`<ul class="hist">${entries.map((each) => html`<li key=${each.number}><button type="button" onClick=${() => open(each)}>
    <span class="mono text">${brief(each.sql ?? each.question)}</span>
    <span class=${`cost ${each.outcome === "charged" ? "priced" : "muted"}`}>${each.outcome === "charged" ? `ε ${amount(parts(each.epsilon))}` : OUTCOMES[each.outcome] ?? "rejected"}</span>
    <span class="when">${when(each.written)}</span></button></li>`)}</ul>`;
}

const termText = (terms) => (terms?.epsilon ? `ε ${amount(parts(terms.epsilon))}` : terms?.within ? "margin" : "");

function Saved({ savedTurn, onDone }) {
  const { value, error, again } = useLoaded(() => get(`${base.value}/saved`), [base.value, savedTurn]);
  if (error?.status === 404) return html`<${Empty} title="No saved queries here">This server does not save queries yet. Your history has all of them.</${Empty}>`;
  if (error) return html`<${Failure} error=${error} />`;
  if (!value) return html`<${Loading} rows="3" label="Loading saved queries" />`;
  if (!value.saved.length) return html`<${Empty} title="Nothing saved yet">Save a query to find it by its name.</${Empty}>`;
  const remove = async (each) => {
    try {
      await call("DELETE", `${base.value}/saved/${encodeURIComponent(each.name)}`);
      say(`${each.name} is no longer saved. Its answers still are.`);
    } catch (found) { say(`${found.message}. ${found.remedy}`); }
    again();
  };
  return html`<ul class="hist">${value.saved.map((each) => html`<li key=${each.name}>
    <button type="button" onClick=${() => { openQuery(each.sql, each.name, each.terms ?? {}); onDone(); }}>
      <span class="text">${key(each.name)}</span><span class="cost muted">${termText(each.terms)}</span><span class="when">${when(each.written)}</span></button>
    <button type="button" class="remove" aria-label=${`Remove ${each.name}`} onClick=${() => remove(each)}><${Icon} name="x" size="13" /></button></li>`)}</ul>`;
}

/** The rail; on narrow screens it opens over the page. */
export function Rail({ tab, setTab, isOpen, onClose, onInsert, savedTurn }) {
  return html`<aside class=${`rail ${isOpen ? "open" : ""}`} aria-label="Tables, history and saved queries">
    <h2 class="vh">Tables, history and saved queries</h2>
    <div class="seg" role="group" aria-label="Rail">${TABS.map(([each, words]) => html`
      <button type="button" key=${each} aria-pressed=${each === tab} onClick=${() => setTab(each)}>${words}</button>`)}</div>
    ${tab === "tables" && html`<${Tables} onInsert=${(text) => { onInsert(text); onClose(); }} />`}
    ${tab === "history" && html`<${History} onDone=${onClose} />`}
    ${tab === "saved" && html`<${Saved} savedTurn=${savedTurn} onDone=${onClose} />`}</aside>`;
}
