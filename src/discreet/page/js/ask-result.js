// Below the query: no answer yet, running, failed, or the answer.
import { AnswerCard } from "/page/js/answer.js";
import { RequestDialog } from "/page/js/ask-request.js";
import { answered, due, epsilon, mode, preview, rounded, run, runQuery, sql, stopWaiting, terms } from "/page/js/ask-store.js";
import { eps } from "/page/js/format.js";
import { Icon } from "/page/js/icons.js";
import { base, current, isOwner } from "/page/js/state.js";
import { Button, Note } from "/page/js/ui.js";
import { html, useEffect, useState } from "/page/vendor/preact.js";

/** A clock that ticks while something is waited for. */
function useSeconds(isOn) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, [isOn]);
  return now;
}

function Running() {
  const { state, isFree, begun, until, error } = run.value, now = useSeconds(true);
  const isLong = now - begun > 3000, seconds = Math.max(0, Math.ceil((until - now) / 1000));
  const words = state === "waiting"
    ? error.status === 0 ? `The connection was lost. Nothing is charged twice: the same answer is requested again in ${seconds} s.` : `The server is busy. Your query waits, and is sent again in ${seconds} s.`
    : isFree ? "Reading the saved answer…" : isLong ? "Still running. If the server is busy, your query waits for its turn." : "The cost is recorded. Reading the data…";
  return html`<section class="card" aria-label="Answer"><div class="body stack running" role="status"><div class="busy"><i /></div>
    <p class="small soft">${words}</p><div class="sk" /><div class="sk" /><div class="sk" />
    ${isLong && html`<div class="btns"><${Button} onClick=${stopWaiting}>Stop waiting</${Button}><span class="small muted">The query runs to its end. Its answer is saved and appears in History.</span></div>`}</div></section>`;
}

const fraction = (text) => { const [top, bottom = 1] = String(text).split("/").map(Number); return top / bottom; };

function Failed({ onRequest }) {
  const { error, key } = run.value, [isAsking, setAsking] = useState(false);
  const end = (words) => words && `${words.replace(/\.$/, "")}.`;
  const left = fraction(error.details.remaining?.epsilon ?? 0), lower = left >= 0.0001 ? rounded(left, 2, Math.floor) : 0;
  const kinds = {
    unlikely_groups: ["price", html`<b>${end(error.message)}</b> ${end(error.remedy)} Nothing was spent.`,
      html`<${Button} kind="pay" onClick=${() => runQuery({ acceptUnlikely: true })}>Run for ${eps(due.value?.epsilon ?? epsilon.value)} even so</${Button}>`],
    budget: ["price", html`<b>${end(error.message)}</b> ${end(error.remedy)}`,
      html`${lower > 0 && html`<${Button} onClick=${() => { mode.value = "cost"; epsilon.value = lower; run.value = { state: "idle" }; }}>Lower to ${eps(lower)}</${Button}>`}${!isOwner.value && html`<${Button} onClick=${onRequest}>Request more</${Button}>`}`],
    approval_needed: ["price", html`<b>${end(error.message)}</b> Nothing was spent.`, html`<${Button} onClick=${() => setAsking(true)}>Request approval</${Button}>`],
    connection: ["refuse", html`<b>The connection was lost.</b> Nothing is charged twice: the same call is made again.`, html`<${Button} onClick=${() => runQuery({ key })}>Try again</${Button}>`],
    engine: ["refuse", html`<b>${end(error.message)}</b> ${end(error.remedy)} The cost stays recorded.`, null],
  };
  const [kind, words, actions] = kinds[error.code] ?? ["refuse", html`<b>${end(error.message)}</b> ${end(error.remedy)}`, null];
  return html`<section class="card" aria-label="Answer"><div class="body"><${Note} kind=${kind} icon=${kind === "refuse" ? "stop" : "info"} role="alert" actions=${actions}>${words}</${Note}></div>
    ${isAsking && html`<${RequestDialog} query=${{ sql: sql.value, ...terms.value }} onClose=${() => setAsking(false)} />`}</section>`;
}

function Nothing() {
  const state = preview.value.state, isLeft = run.value.state === "left";
  const words = isLeft ? "The query runs to its end. Its answer is saved: open it in History, which is free."
    : state === "rejected" ? "Fix the query above. Then you see its cost and margin, before you spend anything."
    : state === "failed" ? "You see the cost and the margin of a query before you spend anything." : "The numbers above are a preview: they are free, and no data were read.";
  return html`<section class="card" aria-label="Answer"><h2 class="vh">Answer</h2><div class="empty"><${Icon} name="ask" size="20" /><h3>${isLeft ? "You stopped waiting" : "No answer yet"}</h3><p class="small">${words}</p></div></section>`;
}

// Margins that the preview promises for a higher cost than the answer had.
function ghostOf(explained, answer, isSame) {
  if (!explained || !isSame || explained.price.epsilon <= answer.price.epsilon * (1 + 1e-9) || answer.price.epsilon === 0) return null;
  const found = explained.columns.filter((each) => each.margin !== null && answer.errors[each.name]).map((each) => [each.name, each.margin]);
  return found.length ? Object.fromEntries(found) : null;
}

/** The part of the view below the query. */
export function Result({ view, setView, onRequest }) {
  const { state } = run.value, found = answered.value, explained = preview.value.state === "ready" ? preview.value.explained : null;
  if (state === "running" || state === "waiting") return html`<${Running} />`;
  if (state === "failed") return html`<${Failed} onRequest=${onRequest} />`;
  if (!found || state === "left") return html`<${Nothing} />`;
  const isSame = found.sql.trim() === sql.value.trim(), ghost = ghostOf(explained, found.answer, isSame && preview.value.sql === sql.value);
  return html`<div class=${isSame ? "fresh" : "fresh other"}>${!isSame && html`<p class="small muted other-note"><${Icon} name="info" size="14" /> This answers the query that was run before, not the one above.</p>`}
    <${AnswerCard} key=${found.id} id=${found.id} base=${base.value} catalog=${current.value.name} answer=${found.answer} terms=${{ epsilon: found.answer.price.epsilon || epsilon.value }} view=${view} setView=${setView} isSaved=${found.isSaved}
      ghost=${ghost} ghostLabel=${explained ? `± at ${eps(explained.price.epsilon)}` : ""} /></div>`;
}
