// One card of a board: a saved answer, as of when it was written, and whether the data changed since.
import { get } from "/page/js/api.js";
import { Figure, isNumber } from "/page/js/board-figures.js";
import { eps, key, when } from "/page/js/format.js";
import { base, current, mayAsk } from "/page/js/state.js";
import { Button, Choice, Failure, Link, Loading, Menu, Note } from "/page/js/ui.js";
import { Icon } from "/page/js/icons.js";
import { html, useEffect, useRef, useState } from "/page/vendor/preact.js";

const AT_ONCE = 3;
const waiting = [];
let running = 0;

/** Make calls a few at a time, and come back later when the server says so. */
function queued(path) {
  return new Promise((resolve, reject) => { waiting.push({ path, resolve, reject }); next(); });
}
async function next() {
  if (running >= AT_ONCE || !waiting.length) return;
  const { path, resolve, reject } = waiting.shift();
  running += 1;
  try {
    resolve(await patient(path));
  } catch (error) { reject(error); }
  running -= 1;
  next();
}
async function patient(path) {
  for (;;) {
    try { return await get(path); } catch (error) {
      if (error.status !== 429) throw error;
      await new Promise((go) => setTimeout(go, 1000 * (error.retryAfter || 1)));
    }
  }
}

/** The answer of a card and what the server knows about it, loaded when it is about to be seen. */
function useAnswer(id) {
  const box = useRef(null);
  const [found, setFound] = useState({});
  useEffect(() => {
    let isWanted = true;
    const put = (more) => isWanted && setFound((before) => ({ ...before, ...more }));
    const load = () => {
      queued(`${base.value}/answers/${id}`).then((answer) => put({ answer }), (error) => put({ error }));
      queued(`${base.value}/answers/${id}/about`).then((about) => put({ about }), () => put({ about: {} }));
    };
    const watch = new IntersectionObserver((seen) => {
      if (!seen.some((each) => each.isIntersecting)) return;
      watch.disconnect();
      load();
    }, { rootMargin: "400px" });
    watch.observe(box.current);
    return () => { isWanted = false; watch.disconnect(); };
  }, [id]);
  return [box, found];
}

function askAddress(about) {
  const query = new URLSearchParams({ q: about.question });
  if (about.terms?.epsilon) query.set("epsilon", about.terms.epsilon);
  return `/?${query}`;
}

function Footer({ about }) {
  if (!about?.written) return html`<footer><span class="muted">saved answer</span></footer>`;
  const isOld = about.is_current === false;
  return html`<footer><span title=${new Date(about.written).toLocaleString()}>as of ${when(about.written)}</span>
    ${isOld ? html`<span class="priced">The data changed</span>${mayAsk.value && html`<${Link} class="btn slim" to=${askAddress(about)}>Run again: ${eps(about.due.epsilon)}</${Link}>`}`
      : about.is_current ? html`<span class="tag answer">saved, free</span>` : html`<span class="muted">saved answer</span>`}</footer>`;
}

const VIEWS = [["both", "Both"], ["table", "Table"], ["chart", "Chart"]];

function Arrange({ card, place, last, onChange, onMove, onRemove }) {
  const name = key(card.title);
  return html`<div class="arrange">
    <label class="field"><span class="vh">Title</span><input class="input" maxlength="200" value=${card.title}
      onChange=${(event) => event.target.value.trim() && onChange({ ...card, title: event.target.value.trim() })} /></label>
    <div class="btns"><${Choice} label=${`What ${name} shows`} options=${VIEWS} value=${card.view} onChange=${(view) => onChange({ ...card, view })} />
      <${Button} kind="icon" aria-label=${`Move ${name} earlier`} data-move="-1" disabled=${place === 0} onClick=${() => onMove(-1)}>←</${Button}>
      <${Button} kind="icon" aria-label=${`Move ${name} later`} data-move="1" disabled=${place === last} onClick=${() => onMove(1)}>→</${Button}>
      <${Button} kind="icon" aria-label=${`Move ${name} to the beginning`} disabled=${place === 0} onClick=${() => onMove(-place)}>↑</${Button}>
      <${Button} kind="icon danger" aria-label=${`Remove ${name} from the board`} onClick=${onRemove}><${Icon} name="x" /></${Button}></div></div>`;
}

export function BoardCard({ card, place, last, isArranging, onChange, onMove, onRemove }) {
  const [box, { answer, about, error }] = useAnswer(card.answer);
  const address = `/answers/${encodeURIComponent(current.value.name)}/${card.answer}`;
  const size = answer && isNumber(answer) ? "small-card" : "large-card";
  return html`<section ref=${box} class=${`card ${size} ${about?.is_current === false ? "old" : ""}`} data-place=${place} aria-labelledby=${`card-${place}`}>
    <header><h2 id=${`card-${place}`}>${key(card.title)}</h2>
      <${Menu} label=${`More about ${key(card.title)}`} kind="ghost icon" button=${html`<${Icon} name="caret" size="14" />`} items=${[
        ["Open the answer", address, ""],
        mayAsk.value && about?.question && ["Open in Ask", askAddress(about), "free if saved"],
        ["Download CSV", `${base.value}/answers/${card.answer}?format=csv`, ""],
        ["Remove from the board", onRemove, ""]]} /></header>
    <div class="body">${error ? error.status === 404 ? html`<${Note}>You may no longer read this answer.</${Note}>` : html`<${Failure} error=${error} />`
      : answer ? html`<${Figure} answer=${answer} view=${card.view} title=${card.title} />` : html`<${Loading} label=${`Loading ${key(card.title)}`} />`}</div>
    ${isArranging && html`<${Arrange} card=${card} place=${place} last=${last} onChange=${onChange} onMove=${onMove} onRemove=${onRemove} />`}
    <${Footer} about=${about} /></section>`;
}
