// What choices do to noise and to the number of queries: the server computes it, without any data.
import { post } from "/page/js/api.js";
import { declaredColumns } from "/page/js/add-data-columns.js";
import { ROW, noun } from "/page/js/add-data-steps.js";
import { eps, key, number } from "/page/js/format.js";
import { Card, Choice, Failure, Loading } from "/page/js/ui.js";
import { html, useEffect, useState } from "/page/vendor/preact.js";

const EACH = [["0.05", "0.05"], ["0.2", "0.2"], ["1", "1"]];
const REST = 200;

/** The effects of what is declared so far; the last ones stay until the next are there. */
function useEffects(form, each) {
  const [state, setState] = useState({ value: null, error: null, isOld: false });
  const isSound = Number(form.epsilon) > 0 && Number(form.delta) >= 0 && Number(form.delta) < 1 && form.limit >= 1;
  const body = JSON.stringify({
    unit: form.unit, rows_per_unit: form.limit, columns: declaredColumns(form.columns, true),
    epsilon: form.epsilon.trim(), delta: form.delta.trim() || "0", epsilon_each: each,
  });
  useEffect(() => {
    if (!isSound) return undefined;
    setState((before) => ({ ...before, isOld: true }));
    const stop = new AbortController();
    const timer = setTimeout(() => post("/v1/datasets/effects", JSON.parse(body), { signal: stop.signal }).then(
      (value) => setState({ value, error: null, isOld: false }),
      (error) => error.name !== "AbortError" && setState((before) => ({ ...before, error, isOld: false }))), REST);
    return () => { clearTimeout(timer); stop.abort(); };
  }, [body]);
  return state;
}

export function Effects({ form }) {
  const [each, setEach] = useState("0.2");
  const { value, error, isOld } = useEffects(form, each);
  return html`<aside class="effects" aria-label="What your choices do"><${Card} id="effects" title="What your choices do"><div class=${`body ${isOld ? "old" : ""}`}>
    <div class="effect"><span class="label">If a query spends ε</span><${Choice} label="Epsilon of a query" options=${EACH} value=${each} onChange=${setEach} /></div>
    ${error && html`<${Failure} error=${error} />`}
    ${!value && !error && html`<${Loading} rows="4" />`}
    ${value && html`<${Known} form=${form} value=${value} each=${each} />`}</div></${Card}></aside>`;
}

function Known({ form, value, each }) {
  const who = noun(form.unit);
  return html`<div role="status" aria-live="polite">
    ${value.by_limit.length > 0 && html`<div class="effect"><span class="label">Noise in a count, by the limit of rows</span>
      <${Curve} points=${value.by_limit.map((one) => [one.rows_per_unit, one.margin])} at=${form.find ? null : form.limit}
        label=${`Noise in a count grows with the limit: ±${number(value.by_limit[0].margin)} at 1 row, ±${number(value.by_limit.at(-1).margin)} at ${value.by_limit.length} rows`} words=${`rows of each ${who} that count`} /></div>`}
    <div class="effect"><span class="label">Noise in a count</span><span class="v answer">${value.count}</span>
      <span class="small soft">${form.unit === ROW ? "each row is protected by itself" : form.find ? `at a limit of ${form.limit}; the best limit is found when you open` : `at most ${form.limit} rows of each ${who} count`}; 95%</span></div>
    ${value.columns.map((one) => html`<div class="effect" key=${one.name}><span class="label">Noise in an average of <span class="mono">${key(one.name)}</span></span>
      <span class="v answer">${one.average.split(" (")[0]}</span><span class="small soft">${(one.average.match(/\((.*)\)/)?.[1] ?? "")}; n is the number of rows in a group</span></div>`)}
    ${form.unit !== ROW && html`<div class="effect"><span class="label">Rows left out by the limit</span><span class="v">not known</span>
      <span class="small soft">${form.find ? "measured privately when you open the data set" : "only a measurement that is charged can say"}</span></div>`}
    <div class="effect"><span class="label">Queries that the budget allows</span><span class="v priced">${number(value.queries)} at ${eps(Number(each))}</span>
      <span class="small soft">saved answers are free to read again</span></div></div>`;
}

const W = 360, H = 150, L = 58, R = 10, T = 10, B = 34;

/** The next number of the form 1, 2, 4, 6, 10 times a power of ten, so that half of it is round. */
function nice(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 6, 10].find((each) => each * power >= value) * power;
}

/** A curve over limits of rows, with the chosen one marked. */
export function Curve({ points, at, label, words, format = (y) => `±${number(y)}`, top = nice(Math.max(...points.map(([, y]) => y))) }) {
  const [first, last] = [points[0][0], points.at(-1)[0]];
  const x = (each) => L + ((each - first) / Math.max(1, last - first)) * (W - L - R), y = (each) => T + (1 - each / top) * (H - T - B);
  const line = points.map(([a, b], i) => `${i ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("");
  const here = at === null ? null : points.findLast(([each]) => each <= at);
  return html`<svg class="chart" viewBox=${`0 0 ${W} ${H}`} role="img" aria-label=${label}>
    ${[0, 0.5, 1].map((part) => html`<g key=${part}><line class=${part ? "grid" : "axis"} x1=${L} x2=${W - R} y1=${y(part * top)} y2=${y(part * top)} />
      <text x=${L - 7} y=${y(part * top) + 4} text-anchor="end">${part ? format(part * top) : "0"}</text></g>`)}
    <path class="band" d=${`${line}L${x(last)} ${y(0)}L${x(first)} ${y(0)}Z`} /><path class="line" d=${line} />
    ${here && at <= last && html`<g><line class="whisk" x1=${x(here[0])} x2=${x(here[0])} y1=${T} y2=${y(0)} /><circle class="spot" cx=${x(here[0])} cy=${y(here[1])} r="4.5" /></g>`}
    ${[first, Math.round((first + last) / 2), last].map((each) => html`<text key=${each} x=${x(each)} y=${y(0) + 15} text-anchor="middle">${each}</text>`)}
    <text x=${(L + W - R) / 2} y=${H - 4} text-anchor="middle">${words}</text></svg>`;
}
