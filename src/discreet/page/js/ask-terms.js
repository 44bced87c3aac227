// The terms of a query: the cost or the margin, its slider, and what the cost means for one person.
import { costSteps, due, epsilon, fixedColumn, left as remains, mode, preview, rounded, scale, setMode, total, within } from "/page/js/ask-store.js";
import { amount, delta, eps, key } from "/page/js/format.js";
import { Choice, Slider } from "/page/js/ui.js";
import { html, useMemo, useState } from "/page/vendor/preact.js";

const reveals = (value) => (value < 0.05 ? "reveals next to nothing" : value < 0.3 ? "reveals little" : value < 1 ? "reveals something" : value < 2 ? "reveals a good deal" : "reveals much");
const TICKS = [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100];

/** A number that can be typed; it counts once it is one. */
function Typed({ label, value, onChange, most, prefix }) {
  const [typed, setTyped] = useState(null);   // {text, value}: what was typed, as long as it is what counts
  const take = (text) => {
    const found = Number(text), isValid = found > 0 && found <= most;
    setTyped({ text, value: isValid ? found : value });
    if (isValid) onChange(found);
  };
  const shown = typed?.value === value ? typed.text : amount(value).replaceAll(",", "");
  return html`<label class="typed"><span class="vh">${label}</span><span aria-hidden="true">${prefix}</span>
    <input type="text" inputmode="decimal" autocomplete="off" style=${{ width: `${Math.max(3, shown.length) * 0.62 + 0.3}em` }} value=${shown}
      onInput=${(event) => take(event.target.value)} onBlur=${() => setTyped(null)} /></label>`;
}

function CostTerms() {
  const left = remains.value?.epsilon, value = epsilon.value;
  return html`<div><div class="big"><${Typed} label="Cost, epsilon" prefix="ε" value=${value} most=${Infinity} onChange=${(found) => { epsilon.value = found; }} />
      <span class="say">${reveals(value)}</span></div>
    <${Slider} id="cost" label="Cost, epsilon" steps=${costSteps.value} value=${value} onChange=${(found) => { epsilon.value = found; }}
      cannotFrom=${left !== undefined && left < total.value ? Math.max(left, costSteps.value[0]) : undefined}
      ticks=${TICKS.filter((each) => each <= total.value)} format=${(each) => `epsilon ${amount(each)}, ${reveals(each)}`} /></div>`;
}

function MarginTerms() {
  const { column, value } = within.value;
  const anchor = useMemo(() => rounded(value, 1), [column]);
  const steps = useMemo(() => scale(anchor / 30, anchor * 30), [anchor]);
  const ticks = [0, 1, 2, 3, 4].map((each) => steps[Math.round(each * (steps.length - 1) / 4)]);
  const others = (preview.value.explained?.columns ?? []).filter((each) => each.margin > 0 && !/^[(–]/.test(each.name));
  const charged = due.value;
  return html`<div class="by-margin"><div class="big"><${Typed} label=${`Margin of error of ${column}`} prefix="±" value=${value} most=${Infinity} onChange=${(found) => { within.value = { column, value: found }; }} />
      <span class="say">for ${others.length > 1 ? html`<select class="pickcol" aria-label="Column whose margin is set" value=${column}
        onChange=${(event) => { const found = others.find((each) => each.name === event.target.value); within.value = { column: found.name, value: rounded(found.margin) }; }}>
        ${others.map((each) => html`<option key=${each.name} value=${each.name}>${key(each.name)}</option>`)}</select>` : html`<span class="mono">${key(column)}</span>`}<br />
        ${charged && preview.value.state === "ready" ? charged.epsilon > 0 ? html`costs <b class="priced">${eps(charged.epsilon)}</b>` : "costs nothing" : "…"}</span></div>
    <${Slider} id="margin" label=${`Margin of error of ${column}`} steps=${steps} value=${value} learned=${true} ticks=${ticks}
      onChange=${(found) => { within.value = { column, value: found }; }} format=${(each) => `plus or minus ${amount(each)}`} /></div>`;
}

/** The most that belief can grow from 50%, rounded up. */
function mostSure(price) {
  const most = (Math.exp(price.epsilon) + price.delta) / (1 + Math.exp(price.epsilon));
  const percent = Number.isFinite(most) ? Math.min(100, Math.ceil(1000 * most - 1e-9) / 10) : 100;
  return percent < 60 ? percent : Math.ceil(percent);
}

const noun = (unit) => unit.replace(/_?id$/i, "").replaceAll("_", " ").trim() || unit;

function Belief({ explained }) {
  const price = explained?.price ?? { epsilon: epsilon.value, delta: 0 };
  if (explained && !explained.unit) return html`<p class="belief plain">Only public tables are read. Nothing about anybody is revealed.</p>`;
  const percent = mostSure(price), share = Math.min(0.9999, percent / 100);
  const at = (part) => { const angle = 2 * Math.PI * part - Math.PI / 2; return `${37 + 27 * Math.cos(angle)} ${32 + 27 * Math.sin(angle)}`; };
  const who = explained ? key(noun(explained.unit)) : "person";
  return html`<div class="belief"><svg class="chart" width="74" height="64" viewBox="0 0 74 64" aria-hidden="true">
      <circle class="ring" cx="37" cy="32" r="27" /><path class="ring before" d=${`M${at(0)} A27 27 0 0 1 ${at(0.5)}`} /><path class="ring after" d=${`M${at(0.5)} A27 27 0 0 1 ${at(share)}`} />
      <text class="val" x="37" y="36.5" text-anchor="middle">${percent}%</text></svg>
    <p>${explained?.neighbours === "replace" ? `Someone who is 50% sure which of two records a given ${who} has` : `Someone who is 50% sure that a given ${who} is in the data${explained?.months ? " of one month" : ""}`} can be <b>at most ${percent}% sure</b> after this answer.
      ${price.delta > 0 && html` <span class="muted">δ is ${delta(price.delta)}.</span>`}</p></div>`;
}

/** The panel beside the editor. */
export function Terms() {
  const explained = preview.value.explained, canFix = mode.value === "margin" || Boolean(fixedColumn(explained));
  return html`<div class="terms">
    <${Choice} label="Set the cost or the margin" options=${[["cost", "Set the cost"], ["margin", "Set the margin"]]} value=${mode.value} onChange=${setMode} />
    ${mode.value === "margin" && within.value ? html`<${MarginTerms} />` : html`<${CostTerms} />`}
    ${!canFix && preview.value.state === "ready" && explained.columns.some((each) => each.margin === null) && html`<p class="tiny muted">The margin of this query cannot be set: it depends on the data.</p>`}
    <${Belief} explained=${explained} /></div>`;
}

