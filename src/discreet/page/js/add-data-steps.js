// The steps of adding data: where they are, who is protected, how many rows count, the budget.
import { amount, key } from "/page/js/format.js";
import { Icon } from "/page/js/icons.js";
import { Button, Empty, Failure, Loading, Note, Slider } from "/page/js/ui.js";
import { Fragment, html } from "/page/vendor/preact.js";

export const ROW = null;

/** "patient" for patient_id: what people call those who are protected. */
export const noun = (unit) => (unit === ROW ? "row" : key(unit).replace(/[_\s-]?(id|no|nr|number|uuid|key)$/i, "").replaceAll("_", " ") || "unit");

export function Step({ number, id, title, isDone = false, isOff = false, children }) {
  return html`<section class=${`step ${isDone ? "done" : isOff ? "" : "now"}`} aria-labelledby=${`step-${id}`}>
    <b aria-hidden="true">${isDone ? html`<${Icon} name="check" size="14" />` : number}</b>
    <div><h2 id=${`step-${id}`}>${title}</h2>${children}</div></section>`;
}

export function SourceStep({ form, change, sources, draft }) {
  const free = sources.files.filter((each) => !each.in_use), used = sources.files.length - free.length;
  const choose = (event) => {
    const [kind, value] = [event.target.value.slice(0, 1), event.target.value.slice(1)];
    change(kind === "f" ? { file: value, address: "", table: "" } : { file: "", address: value, table: "", columns: null });
  };
  if (!free.length && !sources.addresses.length) {
    return html`<${Step} number="1" id="source" title="Where the data are"><${Empty} title="There is nothing to add.">
      ${used ? "All files in the folders that the administrator named are in a data set already." : "The folders that the administrator named have no CSV or Parquet files."}</${Empty}></${Step}>`;
  }
  return html`<${Step} number="1" id="source" title="Where the data are" isDone=${form.columns !== null}>
    <p>They stay there. Before you open the data set, only names and types of columns are read.</p>
    <div class="pair"><label class="field"><span>Data on the server</span>
      <select class="input" required value=${form.file ? `f${form.file}` : form.address ? `a${form.address}` : ""} onChange=${choose}>
        <option value="" disabled>Choose…</option>
        ${free.map((each) => html`<option key=${each.name} value=${`f${each.name}`}>${key(each.name)}</option>`)}
        ${sources.addresses.map((each) => html`<option key=${each} value=${`a${each}`}>${key(each)}</option>`)}</select></label>
      <label class="field"><span>Name of the data set</span>
        <input class="input" required maxlength="64" pattern="[a-z0-9]([a-z0-9_\\-]*[a-z0-9])?" title="small letters, digits, - and _" autocomplete="off" spellcheck="false"
          value=${form.name} onInput=${(event) => change({ name: event.target.value })} /></label></div>
    ${form.address && html`<div class="pair"><label class="field"><span>Table, such as public.visits</span>
      <input class="input mono" required maxlength="200" value=${form.table} onInput=${(event) => change({ table: event.target.value, columns: null })} /></label>
      <div class="field"><span aria-hidden="true"> </span><${Button} disabled=${!form.table.trim() || draft.isBusy} onClick=${draft.load}>Read its columns</${Button}></div></div>`}
    ${used > 0 && html`<p class="small muted">${used === 1 ? "1 file is" : `${used} files are`} in a data set already: two budgets for the same data would add up.</p>`}
    ${draft.isBusy && html`<${Loading} rows="2" label="Reading names and types of columns" />`}
    ${draft.error && html`<${Failure} error=${draft.error} />`}</${Step}>`;
}

export function UnitStep({ form, change }) {
  const named = form.columns.filter((each) => each.is_identifier || each.name === form.unit).slice(0, 5);
  const others = form.columns.filter((each) => !named.includes(each));
  const card = (value, title, words) => html`<label key=${String(value)}><input type="radio" name="unit" checked=${form.unit === value} onChange=${() => change({ unit: value })} />
    ${title}<span>${words}</span></label>`;
  return html`<${Step} number="2" id="unit" title="Who is protected">
    <p>Everything about one of these is hidden in the noise, with all of their rows. It cannot be changed later.</p>
    <div class="choice" role="radiogroup" aria-label="Who is protected">
      ${named.map((each) => card(each.name, html`<span class="mono name">${key(each.name)}</span>`, `Each ${noun(each.name)}, with all of their rows.`))}
      ${card(ROW, "each row", "Only a single row. Someone with ten rows is protected ten times less.")}</div>
    ${others.length > 0 && html`<label class="field other"><span>Or another column</span>
      <select class="input" value=${others.some((each) => each.name === form.unit) ? form.unit : ""} onChange=${(event) => change({ unit: event.target.value })}>
        <option value="" disabled>Choose…</option>${others.map((each) => html`<option key=${each.name} value=${each.name}>${key(each.name)}</option>`)}</select></label>`}</${Step}>`;
}

const LIMITS = Array.from({ length: 60 }, (_, i) => i + 1);
const FIND = "0.05";

export function LimitStep({ form, change }) {
  if (form.unit === ROW) return null;
  const who = noun(form.unit);
  return html`<${Step} number="3" id="limit" title=${`How many rows of one ${who} count`}>
    <p>A low limit leaves rows out. A high limit adds noise. The best limit has the least of both together.</p>
    <div class="knob"><div class="top-line"><label for="limit-typed">Rows of each ${who}</label>
      <span>at most <input id="limit-typed" class="input tiny-input" type="number" min="1" max="1000000" disabled=${Boolean(form.find)} value=${form.limit}
        onInput=${(event) => Number.isInteger(event.target.valueAsNumber) && change({ limit: event.target.valueAsNumber })} /></span></div>
      ${!form.find && html`<${Slider} learned label=${`Rows of each ${who} that count`} steps=${LIMITS} value=${form.limit} onChange=${(limit) => change({ limit })} format=${(each) => `at most ${each} rows`} />`}</div>
    <${Note} kind="price" icon="shuffle" actions=${html`<${Button} aria-pressed=${Boolean(form.find)} onClick=${() => change({ find: form.find ? false : FIND })}>
        ${form.find ? "State a limit instead" : `Find it for ε ${FIND}`}</${Button}>`}>
      ${form.find ? html`<b>The best limit will be found privately</b> when you open the data set, for ε ${FIND} of its budget. You then see it and what share of rows it counts.
          If nothing stands out from the noise, the limit is ${form.limit}.`
        : html`<b>Find the best limit privately.</b> Costs ε ${FIND} of the budget, once, when you open the data set. Without that, nobody looks how many rows anyone has.`}</${Note}></${Step}>`;
}

const BUDGETS = [["1", "Strict. Someone who is 50% sure that a person is in the data is at most 74% sure after all answers."],
  ["3", "Common for research. 50% sure becomes at most 96%, after all answers there will ever be."],
  ["8", "Loose. 50% sure can become almost certain."]];

export function BudgetStep({ form, change }) {
  const isListed = BUDGETS.some(([each]) => each === form.epsilon);
  return html`<${Step} number=${form.unit === ROW ? 4 : 5} id="budget" title="How much may be revealed in total">
    <p>For the life of the data. When it is spent, saved answers stay and nothing new is answered.</p>
    <div class="choice" role="radiogroup" aria-label="Budget">${BUDGETS.map(([each, words]) => html`<label key=${each}>
      <input type="radio" name="epsilon" checked=${form.epsilon === each} onChange=${() => change({ epsilon: each })} />ε ${amount(Number(each))}<span>${words}</span></label>`)}</div>
    <div class="pair"><label class="field"><span>ε in total${isListed ? ", or another amount" : ""}</span>
      <input class="input" inputmode="decimal" required pattern="[0-9]+([.][0-9]+)?" value=${form.epsilon} onInput=${(event) => change({ epsilon: event.target.value })} /></label>
      <label class="field"><span>δ in total, much less than 1 / number of people</span>
      <input class="input" inputmode="decimal" required pattern="[0-9]+([.][0-9]+)?(e-[0-9]+)?" value=${form.delta} onInput=${(event) => change({ delta: event.target.value })} /></label></div>
    ${Number(form.delta) === 0 && html`<${Fragment}><p class="small muted">With δ = 0, groups that nobody declared cannot be shown.</p></${Fragment}>`}</${Step}>`;
}
