// What the Ask view remembers: the query, its terms, the preview and the answer. It survives a reload and the end of a session,
// and ends when its author signs out.
import { CallError, ask, get, newKey, post } from "/page/js/api.js";
import { examplesOf } from "/page/js/ask-examples.js";
import { base, budget, current, months, refreshBudget, schema } from "/page/js/state.js";
import { batch, computed, effect, signal } from "/page/vendor/preact.js";

export const sql = signal("");
export const name = signal("");
export const mode = signal("cost");         // "cost" or "margin"
export const epsilon = signal(0.1);
export const within = signal(null);         // {column, value}: the margin to reach
export const preview = signal({ state: "none" });   // state: none, ready, rejected, failed; isOld while the next is on its way
export const run = signal({ state: "idle" });       // state: idle, running, waiting, failed, done
export const answered = signal(null);       // {id, answer, sql, epsilon}: the last answer
export const turn = signal(0);              // counts answers, so that lists are loaded again

const LEAST = 0.01, PAUSE = 150, GROWTH = 1.1;

/** Round up or down to so many digits. */
export const rounded = (value, digits = 2, way = Math.round) => {
  const unit = 10 ** (Math.floor(Math.log10(value)) - digits + 1);
  return Number((way(value / unit + (way === Math.floor ? 1e-9 : 0)) * unit).toPrecision(digits + 1));
};
/** Steps on a log scale, in numbers of two digits. */
export function scale(low, high) {
  const most = Math.max(2, Math.round(Math.log(high / low) / Math.log(GROWTH)));
  return [...new Set(Array.from({ length: most + 1 }, (_, i) => rounded(low * (high / low) ** (i / most))))];
}
export const total = computed(() => Math.max(budget.value?.total_epsilon ?? 1, 2 * LEAST));
export const costSteps = computed(() => scale(LEAST, total.value));

// ---------------------------------------------------------------------------------------------- what survives

const place = () => `discreet-ask:${current.value?.name}:${current.value?.who}`;
let openFor = "", pending = 0, abort = null, waiting = null;

function remember() {
  const kept = { sql: sql.value, name: name.value, mode: mode.value, epsilon: epsilon.value, within: within.value, answered: answered.value };
  if (openFor !== place()) return;
  try { sessionStorage.setItem(place(), JSON.stringify(kept)); } catch {
    sessionStorage.setItem(place(), JSON.stringify({ ...kept, answered: null }));   // it has no place for large answers
  }
}
effect(remember);

/** Leave what is under way when another account or catalog is used: it belongs to whoever began it. */
effect(() => {
  const here = place();   // read at all times: this runs again whenever it changes
  if (!openFor || openFor === here) return;
  openFor = "";
  clearTimeout(pending);
  abort?.abort();
  waiting?.abort();
  waiting = null;
  batch(() => {
    sql.value = name.value = "";
    answered.value = null;
    run.value = { state: "idle" };
    preview.value = { state: "none" };
  });
});

/** Fill the view: from the address, from what survived a reload, or with an example that works. */
export function openView(query) {
  if (openFor === place() && !query.has("q")) return;   // as it was left
  openFor = "";
  let kept = {};
  try { kept = JSON.parse(sessionStorage.getItem(place()) ?? "{}"); } catch { /* as if nothing were there */ }
  const first = examplesOf(schema.value?.tables ?? [])[0];
  batch(() => {
    sql.value = query.get("q") ?? kept.sql ?? first?.sql ?? "";
    name.value = query.has("q") ? "" : kept.name ?? first?.name ?? "";
    mode.value = query.has("epsilon") ? "cost" : kept.mode ?? "cost";
    epsilon.value = Number(query.get("epsilon")) || kept.epsilon || Math.min(0.1, rounded(total.value / 10, 1));
    within.value = kept.within ?? null;
    answered.value = kept.answered ?? null;
    run.value = { state: "idle" };
    preview.value = { state: "none" };
  });
  openFor = place();
}

/** Put a query into the editor. */
export function openQuery(text, title = "", terms = {}) {
  batch(() => {
    sql.value = text;
    name.value = title;
    if (terms.epsilon) { epsilon.value = Number(terms.epsilon); mode.value = "cost"; }
    if (terms.within && typeof terms.within === "object") {
      const [column, value] = Object.entries(terms.within)[0];
      within.value = { column, value: Number(value) };
      mode.value = "margin";
    }
    if (run.value.state !== "running") run.value = { state: "idle" };
  });
}

// ---------------------------------------------------------------------------------------------- preview

/** The terms of the query as a call has them; amounts are texts, so that they are exact. */
export const terms = computed(() => (mode.value === "margin" && within.value
  ? { within: { [within.value.column]: String(within.value.value) } } : { epsilon: String(epsilon.value) }));

/** The first column whose margin is known in advance. */
export const fixedColumn = (explained) => explained?.columns?.find((each) => each.margin > 0 && !/^[(–]/.test(each.name)) ?? null;

async function explain() {
  abort?.abort();
  abort = new AbortController();
  const { signal: stop } = abort, text = sql.value, asked = terms.value, of = base.value;
  try {
    const explained = await post(`${of}/explain`, { sql: text, ...asked }, { signal: stop });
    preview.value = { state: "ready", explained, sql: text };
    if (budget.value && explained.remaining && !months.value) budget.value = explained.remaining;
  } catch (error) {
    if (stop.aborted) return;
    if (error.status === 429) { pending = setTimeout(explain, 1000 * (error.retryAfter || 1)); return; }
    if (error.status === 422 && asked.within && !error.place && await otherColumn(text, of)) return;
    preview.value = { state: error.status === 422 ? "rejected" : "failed", error, sql: text };
  }
}

/** The margin was for a column that this query has no more: take its first one, if there is any. */
async function otherColumn(text, of) {
  const explained = await post(`${of}/explain`, { sql: text, epsilon: String(epsilon.value) }).catch(() => null);
  const found = fixedColumn(explained);
  if (!found || text !== sql.value || found.name === within.value.column) return false;
  within.value = { column: found.name, value: rounded(found.margin) };
  return true;
}

/** Explain again after each change, once it rests; the last preview stays until then. */
export function watchPreview() {
  let isFirst = true;
  return effect(() => {
    const text = sql.value;
    void [terms.value, base.value, turn.value];
    clearTimeout(pending);
    abort?.abort();
    if (!current.value) return;
    if (!text.trim()) { preview.value = { state: "none" }; return; }
    preview.value = { ...preview.peek(), isOld: true };
    pending = setTimeout(explain, isFirst ? 0 : PAUSE);
    isFirst = false;
  });
}
export const explainAgain = () => { preview.value = { ...preview.value, isOld: true }; explain(); };

/** Set the margin in place of the cost, from where the preview is now. */
export function setMode(next) {
  const explained = preview.value.explained, found = fixedColumn(explained);
  batch(() => {
    if (next === "margin") {
      if (!found) return;
      within.value = { column: found.name, value: rounded(found.margin) };
    } else if (mode.value === "margin" && explained?.price.epsilon > 0) epsilon.value = Math.min(rounded(explained.price.epsilon), total.value);
    mode.value = next;
  });
}

/** What the query would be charged now. */
export const due = computed(() => {
  const explained = preview.value.explained;
  return explained ? explained.due ?? explained.price : null;
});
/** What remains for the query: with a budget per month, for the months that it is charged to. */
export const left = computed(() => (months.value && preview.value.explained?.remaining) || budget.value);
export const isTooMuch = computed(() => Boolean(due.value && left.value && due.value.epsilon > left.value.epsilon));
export const isReady = computed(() => preview.value.state === "ready" && !preview.value.isOld && !isTooMuch.value);

/** Change ε or the margin by a few steps of its slider. */
export function nudge(by) {
  const near = (steps, value) => steps.reduce((best, each, i) => (Math.abs(each - value) < Math.abs(steps[best] - value) ? i : best), 0);
  const moved = (steps, value, step) => steps[Math.min(steps.length - 1, Math.max(0, near(steps, value) + step))];
  if (mode.value === "cost") epsilon.value = moved(costSteps.value, epsilon.value, by);
  else within.value = { ...within.value, value: rounded(within.value.value * GROWTH ** -by) };
}

// ---------------------------------------------------------------------------------------------- run

/** Run the query. The key is kept, so that a repetition after a lost connection is the same call. */
export async function runQuery({ acceptUnlikely = false, key = newKey() } = {}) {
  if (run.value.state === "running" || run.value.state === "waiting") return;
  const text = sql.value, isFree = due.value?.epsilon === 0 && due.value?.delta === 0;
  const body = { sql: text, ...terms.value, ...(acceptUnlikely ? { accept_unlikely: true } : {}) };
  const of = base.value, begun = Date.now();
  const stop = new AbortController();
  waiting = stop;
  run.value = { state: "running", isFree, begun };
  const onWait = (seconds, error) => { run.value = { state: "waiting", until: Date.now() + 1000 * seconds, error, begun }; setTimeout(() => {
    if (waiting === stop && run.value.state === "waiting") run.value = { state: "running", isFree, begun };
  }, 1000 * seconds); };
  try {
    const { id, answer } = await ask(of, body, { key, onWait, signal: stop.signal });
    if (waiting !== stop) return;
    answered.value = { id, answer, sql: text };
    run.value = { state: "done", seconds: (Date.now() - begun) / 1000 };
    turn.value += 1;
    if (months.value) refreshBudget().catch(() => {});
    else if (budget.value) budget.value = answer.remaining;
  } catch (error) {
    if (waiting !== stop) return;
    if (error.name === "AbortError") run.value = { state: "left" };
    else run.value = { state: "failed", error, key, sql: text };
    if (error instanceof CallError && error.status !== 401) refreshBudget().catch(() => {});
  }
}

/** Stop waiting for the answer: the query runs to its end, and its answer is saved. */
export const stopWaiting = () => waiting?.abort();

/** Show a saved answer of the history, which is free. */
export async function openAnswer(entry) {
  const of = place(), answer = await get(`${base.value}/answers/${entry.answer}`);
  if (of !== place()) return;
  const [top, bottom = 1] = String(entry.epsilon ?? "").split("/").map(Number);
  const text = entry.sql ?? entry.question;
  openQuery(text, "", top > 0 ? { epsilon: top / bottom } : {});
  batch(() => { answered.value = { id: entry.answer, answer, sql: text, isSaved: true }; run.value = { state: "done", isOpened: true }; });
}
