// What all playgrounds share: the panel, its controls and figures, calls while a slider moves, axes.
import { CallError, post } from "/page/js/api.js";
import { number } from "/page/js/format.js";
import { Failure, Loading, Slider } from "/page/js/ui.js";
import { html, useEffect, useRef, useState } from "/page/vendor/preact.js";

const HOLD = 80; // milliseconds after the last change before the server is called

/** Whether the reader asked for less motion. */
export const isCalm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Make a call; wait and repeat it if the server says that there were too many. */
export async function compute(path, body, signal) {
  for (;;) {
    try {
      const value = await post(`/v1/learn/${path}`, body, { signal });
      signal?.throwIfAborted(); // a reply that was cut off is not a value
      return value;
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof CallError) || error.status !== 429) throw error;
      await new Promise((go) => setTimeout(go, 1000 * (error.retryAfter || 1)));
      signal?.throwIfAborted();
    }
  }
}

/** The reply for a body, computed again when the body changes; the last one stays until then. */
export function useComputed(path, body, turn = 0) {
  const [state, setState] = useState({ value: null, error: null, isStale: true });
  const isFirst = useRef(true);
  const key = JSON.stringify(body);
  useEffect(() => {
    const stop = new AbortController();
    setState((before) => ({ ...before, isStale: true }));
    const timer = setTimeout(() => compute(path, body, stop.signal).then(
      (value) => setState({ value, error: null, isStale: false }),
      (error) => error.name !== "AbortError" && setState((before) => ({ ...before, error, isStale: false })),
    ), isFirst.current ? 0 : HOLD);
    isFirst.current = false;
    return () => { clearTimeout(timer); stop.abort(); };
  }, [path, key, turn]);
  return state;
}

/** The width of an element, in pixels. */
export function useWidth() {
  const box = useRef(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const watch = new ResizeObserver(([each]) => setWidth(Math.floor(each.contentRect.width)));
    watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  return [box, width];
}

/** A chart that is drawn for its width; one sentence says what it shows. */
export function Chart({ height, label, draw }) {
  const [box, width] = useWidth();
  return html`<div class="chart" ref=${box} style=${{ minHeight: `${height}px` }}>${width > 0 && html`
    <svg width=${width} height=${height} role="img" aria-label=${label}>${draw(width, height)}</svg>`}</div>`;
}

/** A slider with its name and its value above it. */
export function Knob({ label, steps, value, onChange, format = String, isCost = false }) {
  return html`<div class="knob"><div class="top-line"><span>${label}</span><b class=${isCost ? "cost" : ""}>${format(value)}</b></div>
    <${Slider} label=${label} steps=${steps} value=${value} onChange=${onChange} format=${format} learned=${!isCost} /></div>`;
}

/** What a chart shows, as text. Rows: [words, value] or nothing. */
export function Figures({ rows }) {
  return html`<dl class="figures">${rows.filter(Boolean).map(([words, value]) => html`
    <div key=${words}><dt>${words}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** The frame of a playground. `reply` is that of useComputed: it dims the stage while it is old. */
export function Panel({ id, title, tag, see, controls, figures, reply, numbers = [], kind = "", children }) {
  const { value, error, isStale } = reply;
  return html`<section class=${`card panel ${kind}`} aria-labelledby=${`${id}-title`}>
    <header><h2 id=${`${id}-title`} tabindex="-1">${title}</h2>${tag}</header>
    <p class="see"><b>What to see</b> <span>${see}</span></p>
    <div class="play"><div class="controls">${controls}</div>
      <div class=${`stage ${isStale && value ? "stale" : ""}`} aria-busy=${isStale}>
        ${error && html`<${Failure} error=${error} />`}
        ${value ? children : !error && html`<${Loading} rows=${6} />`}</div>
      <div class="read" aria-live="polite">${value && figures}</div></div>
    ${numbers.length > 0 && html`<${Course} numbers=${numbers} />`}</section>`;
}

function Course({ numbers }) {
  return html`<footer class="course"><h3>From the lectures</h3><ul>${numbers.map((each) => html`
    <li key=${each.id}>${each.text} <span class="muted">${each.source}</span></li>`)}</ul></footer>`;
}

/** Steps of a slider: n values from low to high, each by the same factor, in two digits. */
export function factors(low, high, n) {
  const all = Array.from({ length: n }, (_, i) => Number((low * (high / low) ** (i / (n - 1))).toPrecision(2)));
  return [...new Set(all)];
}
export const EPSILONS = factors(0.05, 10, 60);
export const range = (low, high, step = 1) =>
  Array.from({ length: Math.floor((high - low) / step + 1e-9) + 1 }, (_, i) => Number((low + i * step).toFixed(6)));

/** Round numbers on an axis. */
export function ticks(low, high, wanted = 6) {
  const rough = (high - low) / wanted, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? rough;
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9; at += step) found.push(Number(at.toPrecision(10)));
  return found;
}

/** A line through points, as the path of an SVG. */
export const line = (xs, ys) => xs.map((x, i) => `${i ? "L" : "M"}${x.toFixed(1)} ${ys[i].toFixed(1)}`).join("");

/** The area between two lines. */
export const area = (xs, tops, bottoms) =>
  `${line(xs, tops)}${[...xs].reverse().map((x, i) => `L${x.toFixed(1)} ${bottoms[xs.length - 1 - i].toFixed(1)}`).join("")}Z`;

/** Move labels apart, from the lowest upwards: [name, y] with 15 pixels between two. */
export function apart(labels) {
  const sorted = [...labels].sort((a, b) => a[1] - b[1]);
  for (let i = sorted.length - 2; i >= 0; i -= 1) sorted[i] = [sorted[i][0], Math.min(sorted[i][1], sorted[i + 1][1] - 15)];
  return sorted;
}

export const percent = (share, digits = 0) => `${number(100 * share, digits)}%`;

/** Beliefs are rounded upwards: nobody reads less than the bound. */
export const percentUp = (share) => `${number(Math.min(100, Math.ceil(100 * share - 1e-9)))}%`;

/** Names of lines beside the chart. Items: [class of the swatch, words]. */
export function Legend({ items }) {
  return html`<div class="legend">${items.filter(Boolean).map(([kind, words]) => html`
    <span key=${words}><i class=${`sw ${kind}`} />${words}</span>`)}</div>`;
}
