// The audit log: who did what, how it ended, and never a value of an answer.
import { get } from "/page/js/api.js";
import { brief, eps, key, number } from "/page/js/format.js";
import { useDoing } from "/page/js/owner-dialogs.js";
import { base, current } from "/page/js/state.js";
import { Button, Card, Empty, Failure, Link, Loading } from "/page/js/ui.js";
import { html, useEffect, useState } from "/page/vendor/preact.js";

const LINES = 25, AT_ONCE = 1000;
const page = (before, limit) => get(`${base.value}/audit?limit=${limit}${before ? `&before=${before}` : ""}`);

/** All lines of the log, oldest first, as JSON lines. */
async function jsonLines() {
  const all = [];
  for (let before = 0; ;) {
    const { entries } = await page(before, AT_ONCE);
    all.push(...entries);
    if (entries.length < AT_ONCE) break;
    before = entries.at(-1).number;
  }
  return all.reverse().map((each) => `${JSON.stringify(each)}\n`).join("");
}

function save(text, name) {
  const address = URL.createObjectURL(new Blob([text], { type: "application/x-ndjson" }));
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** "3/10" as 0.3: the log has exact amounts. */
const fraction = (text) => { const [above, below = 1] = String(text).split("/").map(Number); return above / below; };

const ACTIONS = { ask: "asked", explain: "previewed", try: "tried a query", cancel: "cancelled a query", read: "read", add_data: "added data", request: "made a request", decide: "decided", add: "added", change: "changed", resume: "resumed", verify: "verified the ledger", coverage: "measured coverage", tick: "released ticks" };
const GOOD = new Set(["charged", "done", "granted", "made", "free", "repeated", "declined"]);
const CLOCK = new Intl.DateTimeFormat("en-GB", { day: "2-digit", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" });

export function AuditLog() {
  const [entries, setEntries] = useState(null);
  const [isWhole, setWhole] = useState(false);
  const [who, setWho] = useState("");
  const [action, setAction] = useState("");
  const [isBusy, error, run] = useDoing();
  const older = (known) => run(async () => {
    const found = (await page(known.at(-1)?.number, LINES)).entries;
    setEntries([...known, ...found]);
    setWhole(found.length < LINES);
  });
  useEffect(() => { older([]); }, [base.value]);
  const all = entries ?? [];
  const shown = all.filter((each) => (!who || each.who === who) && (!action || each.action === action));
  const download = () => run(async () => save(await jsonLines(), `${current.value.name}-audit.jsonl`));
  return html`<div id="audit"><${Card} id="audit" title="Audit log" actions=${html`<span class="small soft">It contains no numbers of answers.</span>
    <${Button} icon="down" disabled=${isBusy} onClick=${download}>JSON lines</${Button}>`}>
    <div class="filters"><${Pick} label="Account" value=${who} options=${all.map((each) => each.who)} onChange=${setWho} />
      <${Pick} label="Action" value=${action} options=${all.map((each) => each.action)} onChange=${setAction} />
      <${Button} kind="ghost" disabled=${isBusy} onClick=${() => older([])}>Reload</${Button}></div>
    ${error && html`<div class="body"><${Failure} error=${error} /></div>`}
    ${entries === null && !error && html`<${Loading} rows="5" />`}
    ${entries && !shown.length && html`<${Empty} title=${all.length ? "No such lines among those loaded." : "Nothing is logged yet."} />`}
    ${shown.length > 0 && html`<ol class="log">${shown.map((each) => html`<${Line} key=${each.number} entry=${each} />`)}</ol>`}
    <div class="more"><span class="small muted" role="status">${entries && `${number(shown.length)} of ${number(all.length)} loaded lines${isWhole ? ", which are all" : ""}`}</span>
      ${entries && !isWhole && html`<${Button} disabled=${isBusy} onClick=${() => older(entries)}>Show older lines</${Button}>`}</div></${Card}></div>`;
}

function Pick({ label, value, options, onChange }) {
  const names = [...new Set(options)].sort();
  return html`<label class="pick"><span class="small soft">${label}</span><select class="input" aria-label=${label} value=${value} onChange=${(event) => onChange(event.target.value)}>
    <option value="">all</option>${names.map((each) => html`<option key=${each} value=${each}>${ACTIONS[each] && label === "Action" ? ACTIONS[each] : key(each)}</option>`)}</select></label>`;
}

function Line({ entry }) {
  const { written, who, action, outcome } = entry;
  const cost = entry.epsilon === undefined ? null : fraction(entry.epsilon);
  return html`<li><time class="num muted" datetime=${written}>${CLOCK.format(new Date(written))}</time>
    <span class="act"><b>${key(who)}</b> ${ACTIONS[action] ?? key(action)}</span>
    <span class="about soft"><${About} entry=${entry} /></span>
    <span class="out">${cost > 0 && outcome !== "free" && html`<span class="priced num">${eps(cost)}</span>`}
      <span class=${`tag ${outcome === "charged" ? "price" : GOOD.has(outcome) ? "" : "refuse"}`}>${key(outcome).replaceAll("_", " ")}</span></span></li>`;
}

const KNOWN = new Set(["number", "written", "who", "action", "outcome", "question", "sql", "epsilon", "delta", "answer"]);

function About({ entry }) {
  const rest = Object.entries(entry).filter(([name, value]) => !KNOWN.has(name) && value !== "");
  const text = entry.question ?? entry.sql;
  const words = text ? brief(text) : rest.map(([name, value]) => `${name} ${key(value)}`).join(", ");
  if (!entry.answer) return html`<span class=${text ? "mono" : ""}>${words}</span>`;
  return html`<${Link} class="mono" to=${`/answers/${encodeURIComponent(current.value.name)}/${encodeURIComponent(entry.answer)}`}>${words || "the saved answer"}</${Link}>`;
}
