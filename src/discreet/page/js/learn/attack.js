// Attacks on synthetic people, run live against four ways to answer, a few trials in each call.
import { amount, number } from "/page/js/format.js";
import { Chart, compute, EPSILONS, Figures, Knob, Legend, line, Panel, percent } from "/page/js/learn/playground.js";
import { Button } from "/page/js/ui.js";
import { Fragment, html, useEffect, useRef, useState } from "/page/vendor/preact.js";

const TARGETS = [["raw", "Exact answers"], ["rounded", "Rounded to tens"], ["fresh-laplace", "Fresh noise, no budget"], ["discreet", "Discreet"]];
const ATTACKS = {
  averaging: { goal: 20, see: "The attacker repeats one count. Fresh noise averages out; Discreet returns the saved answer, so repeating it reveals nothing more.",
    guess: "one person's secret" },
  differencing: { goal: 20, see: "The attacker counts everyone, then everyone but one person. Exact and rounded counts reveal that person; Discreet stops when its budget is spent.",
    guess: "one person's secret" },
  reconstruction: { goal: 64, see: "The attacker counts random halves of the people and solves for everybody's secret. Enough answers reveal the whole table, unless a budget ends them.",
    guess: "the secrets of 32 people" },
};
const LEFT = 44, RIGHT = 30, TOP = 14, FOOT = 40;

function Marks({ outcome, kind, x, y, aside }) {
  const steps = outcome.steps.filter((each) => each.queries > 0), last = steps.at(-1);
  if (!last) return null;
  return html`<g class=${`mark-of ${kind}`}><path d=${line(steps.map((each) => x(each.queries)), steps.map((each) => y(each.success)))} />
    <path class="whisk" d=${`M${x(last.queries) + aside} ${y(last.interval[0])}V${y(last.interval[1])}`} />
    ${steps.map((each) => html`<circle key=${each.queries} cx=${x(each.queries)} cy=${y(each.success)} r="3" />`)}</g>`;
}

function draw(found, epsilon) {
  return (width, height) => {
    const most = Math.max(32, ...Object.values(found).flatMap((each) => each.steps.map((step) => step.queries)));
    const x = (k) => LEFT + ((width - LEFT - RIGHT) * Math.log2(k)) / Math.log2(most);
    const y = (share) => height - FOOT - (height - FOOT - TOP) * share;
    const allowed = found.discreet?.allowed;
    return html`${[0, 0.25, 0.5, 0.75, 1].map((each) => html`<g key=${each}><line class=${each === 0.5 ? "guess" : "grid"} x1=${LEFT} x2=${width - RIGHT} y1=${y(each)} y2=${y(each)} />
        <text x=${LEFT - 7} y=${y(each) + 4} text-anchor="end">${percent(each)}</text></g>`)}
      ${allowed && html`<line class="limit" x1=${LEFT} x2=${width - RIGHT} y1=${y(allowed)} y2=${y(allowed)} /><text class="cost" x=${LEFT + 6} y=${y(allowed) - 6}>the most that ε ${amount(epsilon)} allows</text>`}
      ${Array.from({ length: Math.log2(most) + 1 }, (_, i) => 2 ** i).map((each) => html`<text key=${each} x=${x(each)} y=${height - 22} text-anchor="middle">${number(each)}</text>`)}
      <text x=${(LEFT + width - RIGHT) / 2} y=${height - 4} text-anchor="middle">queries</text>
      ${TARGETS.map(([kind], i) => found[kind] && html`<${Marks} key=${kind} kind=${kind} outcome=${found[kind]} x=${x} y=${y} aside=${5 + 5 * i} />`)}`;
  };
}

const doneOf = (outcome) => outcome?.steps.at(-1)?.guesses ?? 0;

/** What came of the attack on one target, in a few words. */
function words(outcome, isDone) {
  if (!outcome) return "";
  if (outcome.stopped_after) return `stopped answering after ${outcome.stopped_after} queries`;
  return isDone ? (outcome.steps.at(-1).interval[0] > 0.5 ? "the attack succeeds" : "no better than guessing") : "";
}

function Row({ kind, name, outcome, goal }) {
  const last = outcome?.steps.at(-1);
  return html`<tr><th scope="row"><span class="named"><i class=${`sw ${kind}`} /><span>${name}<span class="result">${words(outcome, doneOf(outcome) >= goal)}</span></span></span></th>
    <td class="grow"><span class=${`success ${kind}`} aria-hidden="true">${last && html`<i style=${{ width: `${100 * last.success}%` }} />`}</span></td>
    <td class="num">${last ? html`<b>${percent(last.success)}</b><span class="result">${percent(last.interval[0])} to ${percent(last.interval[1])}</span>` : "–"}</td></tr>`;
}

/** How far the attack is, in all targets. */
function Progress({ found, goal }) {
  const share = TARGETS.reduce((sum, [kind]) => sum + Math.min(1, doneOf(found[kind]) / goal), 0) / TARGETS.length;
  return html`<div class="progress" role="progressbar" aria-label="Progress of the attack" aria-valuemin="0" aria-valuemax="100" aria-valuenow=${Math.round(100 * share)}>
    <i style=${{ width: `${100 * share}%` }} /></div>`;
}

/** Run the attack against one target until there are enough guesses. */
async function run({ attack, against, epsilon, goal, signal, onStep }) {
  for (let before = []; ;) {
    const outcome = await compute("attack", { attack, against, epsilon, before }, signal);
    onStep(against, outcome);
    if (doneOf(outcome) >= goal) return;
    before = outcome.steps.map(({ queries, right, guesses }) => ({ queries, right, guesses }));
  }
}

export default function Attack({ id, title, numbers }) {
  const { goal, see, guess } = ATTACKS[id];
  const [epsilon, setEpsilon] = useState(1);
  const [found, setFound] = useState({});
  const [state, setState] = useState("ready");
  const [error, setError] = useState(null);
  const stop = useRef(null);
  useEffect(() => () => stop.current?.abort(), []);
  const start = async () => {
    stop.current = new AbortController();
    const { signal } = stop.current;
    setFound({}); setError(null); setState("running");
    const onStep = (against, outcome) => !signal.aborted && setFound((before) => ({ ...before, [against]: outcome }));
    try {
      for (const [against] of TARGETS) await run({ attack: id, against, epsilon, goal, signal, onStep });
      setState("done");
    } catch (caught) {
      if (caught.name !== "AbortError") { setError(caught); setState("ready"); }
    }
  };
  const halt = () => { stop.current?.abort(); setState("ready"); };
  const isRunning = state === "running", success = (kind) => found[kind]?.steps.at(-1)?.success;
  const change = (value) => { if (isRunning) halt(); setFound({}); setEpsilon(value); };
  return html`<${Panel} id=${id} title=${title} kind="begin" numbers=${numbers} reply=${{ value: found, error, isStale: false }}
    tag=${html`<span class="tag refuse">attack</span>`} see=${see}
    controls=${html`<${Knob} label="Budget of Discreet" isCost steps=${EPSILONS.filter((each) => each >= 0.1)} value=${epsilon} onChange=${change} format=${(v) => `ε ${amount(v)}`} />
      <p class="small soft">The attacker guesses ${guess}. A guess without any answer is right half of the time. Discreet spends a tenth of its budget on each query.</p>
      <div class="btns">${isRunning ? html`<${Button} icon="x" onClick=${halt}>Stop</${Button}>` : html`<${Button} icon="play" kind="solid" onClick=${start}>${state === "done" ? "Attack again" : "Start the attack"}</${Button}>`}</div>
      ${isRunning && html`<${Progress} found=${found} goal=${goal} />`}`}
    figures=${html`<${Figures} rows=${[
      ...TARGETS.map(([kind, name]) => [name, success(kind) === undefined ? "–" : `${percent(success(kind))} right`]),
      ["Guessing", "50% right"],
      found.discreet && [`The most that ε ${amount(epsilon)} allows`, percent(found.discreet.allowed)],
    ]} />`}>
    <${Fragment}><${Legend} items=${[["guess-of", "guessing"], ...TARGETS]} /><${Chart} height=${280} draw=${draw(found, epsilon)} label=${`Share of right guesses by number of queries. ${TARGETS.map(([kind, name]) => (success(kind) === undefined ? "" : `${name}: ${percent(success(kind))}.`)).join(" ") || "The attack has not run yet."}`} />
      <table class="fits"><caption class="vh">Success of the attack</caption><thead><tr><th scope="col">Answers</th><th scope="col">Right guesses, and 50%</th><th scope="col" class="right">95% interval</th></tr></thead>
        <tbody>${TARGETS.map(([kind, name]) => html`<${Row} key=${kind} kind=${kind} name=${name} outcome=${found[kind]} goal=${goal} />`)}</tbody></table>
      <p class="vh" role="status">${isRunning ? "The attack runs." : state === "done" ? "The attack is complete." : ""}</p></${Fragment}>
  </${Panel}>`;
}
