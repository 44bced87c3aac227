// Queries that run or wait for a turn, and cancelling them.
import { call, get } from "/page/js/api.js";
import { count, key } from "/page/js/format.js";
import { FormDialog } from "/page/js/owner-dialogs.js";
import { base, say } from "/page/js/state.js";
import { Button, Card, Empty, Failure, Loading } from "/page/js/ui.js";
import { html, useEffect, useRef, useState } from "/page/vendor/preact.js";

const EVERY = 2000;

/** What runs now, looked at every two seconds while the page is visible: {value, error, isMissing, again}. */
export function useRunning() {
  const [state, setState] = useState({ value: null, error: null, isMissing: false });
  const look = useRef(() => {});
  useEffect(() => {
    let timer = 0, isWanted = true, isLooking = false;
    const next = (seconds) => { clearTimeout(timer); if (isWanted && !document.hidden) timer = setTimeout(look.current, seconds); };
    look.current = async () => {
      if (isLooking) return;
      isLooking = true;
      try {
        const value = await get(`${base.value}/running`);
        if (isWanted) setState({ value, error: null, isMissing: false });
        next(EVERY);
      } catch (error) {
        const isMissing = error.status === 404;
        if (isWanted) setState((before) => ({ value: before.value, error: isMissing ? null : error, isMissing }));
        if (!isMissing) next(5 * EVERY);
      } finally { isLooking = false; }
    };
    const visible = () => (document.hidden ? clearTimeout(timer) : look.current());
    document.addEventListener("visibilitychange", visible);
    look.current();
    return () => { isWanted = false; clearTimeout(timer); document.removeEventListener("visibilitychange", visible); };
  }, [base.value]);
  return { ...state, again: () => look.current() };
}

const seconds = (since) => Math.max(0, Math.round((Date.now() - new Date(since)) / 1000));
const lasted = (since) => (seconds(since) < 120 ? count(seconds(since), "second") : `${Math.floor(seconds(since) / 60)} minutes`);

const STATES = { waiting: "waits for a turn", running: "running", cancelled: "cancelled: runs to its end" };

export function Running({ loaded }) {
  const [ending, setEnding] = useState(null);
  const { value, error, isMissing } = loaded;
  return html`<div id="running"><${Card} id="running" title="Running now">
    ${error && html`<div class="body"><${Failure} error=${error} actions=${html`<${Button} onClick=${loaded.again}>Try again</${Button}>`} /></div>`}
    ${isMissing && html`<${Empty} title="This server does not list running queries.">They run to their end, and their answers are saved.</${Empty}>`}
    ${!value && !error && !isMissing && html`<${Loading} rows="1" />`}
    ${value && !value.running.length && !isMissing && html`<${Empty} title="Nothing runs now.">Queries of all accounts appear here while they run.</${Empty}>`}
    ${!isMissing && value?.running.map((each) => html`<div class="req" key=${each.number}>
      <div><i class=${`pulse ${each.state}`} /> <b>${key(each.account)}</b> <span class="tag">${STATES[each.state]}</span>
        <span class="small muted"> ${lasted(each.since)}</span></div>
      <pre class="sql mono">${key(each.question).replaceAll("\\u000a", "\n")}</pre>
      ${each.state !== "cancelled" && html`<div class="btns"><${Button} kind="danger" onClick=${() => setEnding(each)} aria-label=${`Cancel the query of ${key(each.account)}`}>Cancel</${Button}></div>`}</div>`)}
    ${ending && html`<${EndQuery} query=${ending} onChange=${loaded.again} onClose=${() => setEnding(null)} />`}</${Card}></div>`;
}

function EndQuery({ query, onChange, onClose }) {
  const send = async () => {
    try {
      const ended = await call("DELETE", `${base.value}/running/${query.number}`);
      say(ended?.outcome === "dropped" ? "Cancelled. Nothing was charged." : "Cancelled. What was charged stays charged.");
    } catch (error) {
      if (error.status !== 404) throw error;
      say("The query had ended before.");
    }
    onChange();
  };
  return html`<${FormDialog} title=${`Cancel the query of ${key(query.account)}?`} words="Cancel the query" stay="Let it run" danger send=${send} onClose=${onClose}>
    <p>${query.state === "waiting" ? "It has not begun: nothing is charged." : "The analyst stops waiting. The query runs to its end, its charge stays, and its answer is saved."}</p>
  </${FormDialog}>`;
}
