// Series: charts that go on for years on one payment. Looking at released ticks is free.
import { get, post } from "/page/js/api.js";
import { AnswerTable } from "/page/js/answer.js";
import { count, delta, eps, key, margin, number } from "/page/js/format.js";
import { Icon } from "/page/js/icons.js";
import { SeriesChart, tickText } from "/page/js/series-chart.js";
import { base, go, isOwner, refreshBudget, route, say } from "/page/js/state.js";
import { Button, Card, Choice, Empty, Failure, Link, Loading, Note, useLoaded, useStyles } from "/page/js/ui.js";
import { html, useState } from "/page/vendor/preact.js";

const WINDOW = 7, MOST_ROWS = 200, MOST_TICKS = 1500;
const addressOf = (name) => `/series?name=${encodeURIComponent(name)}`;
const moment = (text) => `${text.slice(0, 16).replace("T", " ")} UTC`;

/** What can be shown of a series, and how calls ask for it. */
const kindsOf = (clock) => [
  ["running", "Running total", "kind=running"], ["tick", `Each ${clock}`, "kind=tick"], ["window", `Last ${WINDOW} ${clock}s`, `kind=window&window=${WINDOW}`],
];

/** The state of a series in few words. */
function stateOf(each) {
  if (each.problem) return ["refuse", "cannot be released"];
  if (each.released >= each.ticks) return ["ok", "complete"];
  if (each.due > each.released) return ["price", `${count(each.due - each.released, each.clock)} due`];
  return each.is_charged ? ["answer", "up to date"] : ["", "not started"];
}

function List({ series, shown }) {
  return html`<nav class="series-list" aria-label="Series">${series.map((each) => {
    const [kind, words] = stateOf(each);
    return html`<${Link} key=${each.name} to=${addressOf(each.name)} aria-current=${each === shown ? "page" : undefined}>
      <b>${key(each.name)}</b><span class=${`tag ${kind}`}>${words}</span>
      <span class="small muted">${number(each.released)} of ${count(each.ticks, each.clock)}${each.next_at && each.due <= each.released ? `, next ${moment(each.next_at)}` : ""}</span></${Link}>`;
  })}</nav>`;
}

/** A table of a series as answers have it, the newest tick first. */
function asAnswer(table) {
  const keys = 1 + table.keys.length, places = table.columns.map((_, i) => keys + 2 * i);
  const groups = Map.groupBy(table.rows, (row) => row[0]), rows = [...groups.values()].toReversed().flat().slice(0, MOST_ROWS);
  return {
    columns: [...table.names.slice(0, keys).map((name) => ({ name, role: "key", type: "text" })), ...table.columns.map((name) => ({ name, role: "estimate", type: "real" }))],
    rows: rows.map((row) => [tickText(row[0], table.clock), ...row.slice(1, keys), ...places.map((at) => row[at])]),
    errors: Object.fromEntries(table.columns.map((name, i) => [name, rows.map((row) => row[places[i] + 1])])),
    intervals: {}, confidence: table.confidence,
  };
}

function Released({ shown }) {
  const [kind, setKind] = useState("running");
  const [column, setColumn] = useState(shown.columns[0].name);
  const [, words, terms] = kindsOf(shown.clock).find(([each]) => each === kind);
  const path = `${base.value}/series/${encodeURIComponent(shown.name)}?${terms}`;
  const { value: found, error, again } = useLoaded(() => get(`${path}&last=${MOST_TICKS}`), [path, shown.released]);
  const value = found?.kind === kind ? found : null;   // not the one that was shown before
  if (error) return html`<${Card} id="chart" title=${words}><div class="body"><${Failure} error=${error} actions=${html`<${Button} onClick=${again}>Try again</${Button}>`} /></div></${Card}>`;
  const actions = html`<${Choice} label="What is shown" options=${kindsOf(shown.clock)} value=${kind} onChange=${setKind} />
    <a class="btn" href=${`${path}&format=csv`} download=${`${shown.name}.csv`}><${Icon} name="down" /> CSV</a>`;
  const isMany = value && value.rows.length > MOST_ROWS;
  return html`<${Card} id="chart" title=${words} actions=${actions}><div class="body stack">
      ${shown.columns.length > 1 && html`<${Choice} label="Column" options=${shown.columns.map(({ name }) => [name, key(name)])} value=${column} onChange=${setColumn} />`}
      ${value ? html`<${SeriesChart} table=${value} column=${column} title=${words} />` : html`<${Loading} rows="6" label="Loading the ticks" />`}
      <p class="small soft">The band is the margin of error, at 95% confidence for each tick.${shown.released > MOST_TICKS && ` The newest ${number(MOST_TICKS)} of ${count(shown.released, "tick")} are shown.`}</p></div></${Card}>
    ${value && html`<${Card} id="numbers" title="Numbers"><div class="wrap-x tabled" tabindex="0" role="region" aria-label="Numbers of the ticks"><${AnswerTable} answer=${asAnswer(value)} caption=${words} /></div>
      ${isMany && html`<p class="small muted more">The newest ${number(MOST_ROWS)} of ${count(value.rows.length, "row")} are shown. The CSV file has all of them.</p>`}</${Card}>`}`;
}

/** What the owner sees: ticks that wait, and ticks that failed. */
function Releasing({ shown, ticking, onDone }) {
  const [isBusy, setBusy] = useState(false);
  const failed = ticking.failures.filter((each) => !each.series || each.series === shown.name);
  const due = shown.due - shown.released;
  const release = async () => {
    setBusy(true);
    try {
      await post(`${base.value}/series/tick`, { names: [shown.name] });
      say(`${count(due, shown.clock)} released`);
    } catch (error) { say(`${error.message}. ${error.remedy}`); }
    setBusy(false);
    refreshBudget();
    onDone();
  };
  const words = shown.is_charged ? "Release now, free" : `Release now for ${eps(shown.price.epsilon)}`;
  return html`${failed.map((each) => html`<${Note} key=${each.series} kind="refuse" icon="stop"><b>${each.message}</b> (${each.code}, since ${moment(each.since)}).${each.remedy && ` ${each.remedy}.`}</${Note}>`)}
    ${due > 0 && !shown.problem && html`<${Note} kind="price" icon="clock" actions=${html`<${Button} kind="solid" disabled=${isBusy} onClick=${release}>${words}</${Button}>`}>
      <b>${count(due, shown.clock)} can be released.</b> ${ticking.by_clock ? "The server releases them by itself." : "This server does not release ticks by itself."}</${Note}>`}`;
}

function About({ shown }) {
  const { price } = shown, cost = `${eps(price.epsilon)}${price.delta ? `, δ ${delta(price.delta)}` : ""}`;
  return html`<${Card} id="about" title="What it is"><div class="body stack">
      <pre class="mono small query">${shown.question.split("\n").map(key).join("\n")}</pre>
      <p><b class="priced">${cost}</b> for all ${count(shown.ticks, shown.clock)} together, charged once${shown.is_charged ? "" : ", with the first tick"}. It begins on ${tickText(shown.first, shown.clock)}.</p>
      ${shown.notes.length > 0 && html`<ul class="notes small soft">${shown.notes.map((each) => html`<li key=${each}>${key(each)}</li>`)}</ul>`}</div>
    ${shown.columns.length > 0 && html`<div class="wrap-x" tabindex="0" role="region" aria-label="Margins of error"><table class="tight"><caption class="vh">Margins of error at 95% confidence</caption>
      <thead><tr><th scope="col">Margin of</th><th scope="col" class="right">first ${shown.clock}</th><th scope="col" class="right">last ${shown.clock}</th><th scope="col" class="right">largest</th><th scope="col" class="right">one ${shown.clock} alone</th></tr></thead>
      <tbody>${shown.columns.map(({ name, margins }) => html`<tr key=${name}><td>${key(name)}</td>${["first", "last", "worst", "tick"].map((each) => html`<td key=${each} class="right num">${margin(margins[each])}</td>`)}</tr>`)}</tbody></table></div>`}</${Card}>`;
}

export default function Series() {
  useStyles("series");
  const { value, error, again } = useLoaded(() => get(`${base.value}/series`), [base.value]);
  if (error && !value) return html`<div class="page"><h1>Series</h1><${Failure} error=${error} actions=${html`<${Button} onClick=${again}>Try again</${Button}>`} /></div>`;
  if (!value) return html`<div class="page"><h1>Series</h1><${Loading} label="Loading the series" /></div>`;
  const { series, ticking } = value, wanted = route.value.query.get("name");
  const shown = series.find((each) => each.name === wanted) ?? series[0];
  if (!shown) {
    return html`<div class="page series"><h1>Series</h1><section class="card"><h2 class="vh">All series</h2><${Empty} title="No series yet">A series releases a chart tick by tick, for one payment. ${isOwner.value ? "Declare one in the catalog: [[series]]." : "The data owner declares them in the catalog."}</${Empty}></section></div>`;
  }
  return html`<div class="page series"><div class="head"><div><h1>${key(shown.name)}</h1>
      <p>Each ${shown.clock} is released once, and looking at it is free. ${number(shown.released)} of ${count(shown.ticks, shown.clock)} are released.</p></div></div>
    <div class="series-grid"><${List} series=${series} shown=${shown} /><div class="stack">
      ${ticking && html`<${Releasing} key=${`r ${shown.name}`} shown=${shown} ticking=${ticking} onDone=${again} />`}
      ${shown.problem && html`<${Note} kind="refuse" icon="stop"><b>No tick can be released.</b> ${key(shown.problem)}</${Note}>`}
      ${shown.released > 0 ? html`<${Released} key=${shown.name} shown=${shown} />`
        : html`<section class="card"><h2 class="vh">Ticks</h2><${Empty} title="No tick is released yet">${shown.next_at ? `The first one can be released from ${moment(shown.next_at)} on.` : ""}</${Empty}></section>`}
      <${About} shown=${shown} /></div></div></div>`;
}
