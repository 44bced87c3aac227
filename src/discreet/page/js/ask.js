// The Ask view: a query, its preview, and its answer.
import { call } from "/page/js/api.js";
import { examplesOf } from "/page/js/ask-examples.js";
import { Preview, RunBar, Spoken } from "/page/js/ask-preview.js";
import { Rail } from "/page/js/ask-rail.js";
import { RequestDialog } from "/page/js/ask-request.js";
import { Result } from "/page/js/ask-result.js";
import { isReady, name, nudge, openQuery, openView, preview, run, runQuery, sql, terms, watchPreview } from "/page/js/ask-store.js";
import { Terms } from "/page/js/ask-terms.js";
import { base, go, mayAsk, route, say, schema } from "/page/js/state.js";
import { Button, Empty, Link, Loading, useStyles } from "/page/js/ui.js";
import { Fragment, html, useEffect, useRef, useState } from "/page/vendor/preact.js";

const VIEWS = ["both", "table", "chart"];

/** The editor arrives after the rest of the view; until then the query can be read. */
function Query({ handle }) {
  const [Editor, setEditor] = useState(null);
  useEffect(() => { import("/page/js/editor.js").then((found) => setEditor(() => found.Editor)); }, []);
  const { state, error, isOld } = preview.value;
  if (!Editor) return html`<div class="editor-box"><div class="editor"><pre class="waiting">${sql.value}</pre></div></div>`;
  return html`<${Editor} text=${sql} tables=${schema.value?.tables} handle=${handle}
    error=${state === "rejected" && !isOld ? error : null} />`;
}

function Tries() {
  const all = examplesOf(schema.value?.tables ?? []);
  return html`<div class="tries"><span class="label nowrap">Try one</span><div class="chips">${all.map((each) => html`
    <button type="button" key=${each.name} class="chip" aria-pressed=${each.sql === sql.value} onClick=${() => openQuery(each.sql, each.name, each.epsilon ? { epsilon: each.epsilon } : {})}>${each.name}</button>`)}</div></div>`;
}

/** Save the query under its name. */
async function save(field) {
  const title = name.value.trim();
  if (!title) { field.current?.focus(); say("Give the query a name first."); return false; }
  try {
    await call("PUT", `${base.value}/saved/${encodeURIComponent(title)}`, { sql: sql.value, terms: terms.value });
    say(`Saved as ${title}. You find it under Saved.`);
    return true;
  } catch (error) {
    say(error.status === 404 || error.status === 405 ? "This server does not save queries yet. Your history has all of them." : `${error.message}. ${error.remedy}`);
    return false;
  }
}

/** What keys do, also while the editor has the focus. */
function useKeys(actions) {
  const now = useRef(actions);
  now.current = actions;
  useEffect(() => {
    const pressed = (event) => {
      const mod = event.ctrlKey || event.metaKey;
      if (document.querySelector("dialog[open]")) return;
      const found = mod && event.key === "Enter" ? "run" : mod && !event.shiftKey && event.key === "s" ? "save" : mod && !event.shiftKey && event.key === "h" ? "history"
        : event.key === "F8" ? "fix" : event.altKey && event.key === "ArrowUp" ? "more" : event.altKey && event.key === "ArrowDown" ? "less"
        : event.altKey && event.code === "KeyV" ? "view" : null;
      if (!found) return;
      event.preventDefault();
      event.stopPropagation();
      now.current[found]();
    };
    addEventListener("keydown", pressed, true);
    return () => removeEventListener("keydown", pressed, true);
  }, []);
}

function Asking() {
  const [tab, setTab] = useState("tables"), [isOpen, setOpen] = useState(false), [view, setView] = useState("both");
  const [savedTurn, setSavedTurn] = useState(0), [isRequesting, setRequesting] = useState(false);
  const handle = useRef(null), field = useRef(null), answerFocus = useRef(0);
  useEffect(() => {
    openView(route.value.query);
    const catalog = route.value.query.get("catalog");
    if (route.value.query.has("q")) go(catalog ? `/?catalog=${encodeURIComponent(catalog)}` : "/", { replace: true });
    return watchPreview();
  }, []);
  const keep = async () => { if (await save(field)) setSavedTurn((n) => n + 1); };
  useKeys({
    run: () => isReady.value && runQuery(), save: keep, history: () => { setTab("history"); setOpen(true); setTimeout(() => document.querySelector(".rail .hist button")?.focus(), 400); },
    fix: () => document.querySelector(".rejection .fix")?.focus(), more: () => nudge(2), less: () => nudge(-2),
    view: () => setView((before) => VIEWS[(VIEWS.indexOf(before) + 1) % VIEWS.length]),
  });
  const done = run.value.state;
  useEffect(() => {
    if (done === "done" && answerFocus.current) document.getElementById("answer-title")?.focus({ preventScroll: run.value.isOpened });
    answerFocus.current += 1;
  }, [done]);
  return html`<div class="ask" onKeyDown=${(event) => { if (event.key === "Escape" && isOpen) setOpen(false); }}>
    <h1 class="vh">Ask</h1>
    <a class="skip" href="#main" onClick=${(event) => { event.preventDefault(); handle.current?.focus(); }}>Skip to the query</a>
    <${Rail} tab=${tab} setTab=${setTab} isOpen=${isOpen} onClose=${() => setOpen(false)} onInsert=${(text) => handle.current?.insert(text)} savedTurn=${savedTurn} />
    <div class="ask-main">
      <div class="title"><${Button} kind="icon rail-open" icon="table" aria-label="Tables, history and saved queries" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)} />
        <input ref=${field} aria-label="Name of the query" placeholder="Query without a name" autocomplete="off" spellcheck="false" maxlength="100" value=${name.value} onInput=${(event) => { name.value = event.target.value; }} />
        <${Button} kind="ghost" icon="star" onClick=${keep}>Save</${Button}></div>
      <${Tries} />
      <section class="card question" aria-label="Query"><h2 class="vh">Query</h2>
        <${Query} handle=${handle} /><${Terms} />
        <${Preview} onRequest=${() => setRequesting(true)} onFocusEditor=${() => handle.current?.focus()} /></section>
      <${Spoken} />
      <${Result} view=${view} setView=${setView} onRequest=${() => setRequesting(true)} /></div>
    <${RunBar} />
    ${isRequesting && html`<${RequestDialog} onClose=${() => setRequesting(false)} />`}</div>`;
}

function ReadOnly() {
  return html`<div class="page"><${Empty} title="Your account may read saved answers"
    actions=${html`<${Fragment}><${Link} class="btn solid" to="/boards">Show boards</${Link}><${Link} class="btn" to="/data">Show the data</${Link}></${Fragment}>`}>
    It may not spend budget on new ones. Open a link to an answer, or a board. To run queries, ask the data owner for another role.</${Empty}></div>`;
}

export default function View() {
  const isStyled = useStyles("ask");
  if (!mayAsk.value) return html`<${ReadOnly} />`;
  if (!schema.value || !isStyled) return html`<div class="page"><${Loading} rows="5" label="Loading the tables" /></div>`;
  return html`<${Asking} />`;
}
