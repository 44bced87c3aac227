// Charts of answers as SVG, chosen by their shape. Solid is number, faded is noise.
import { axisText, brief, keysOf, kindOf, numbersOf, placeOf, pointsOf, reach, sentenceOf, steps } from "/page/js/charts-shape.js";
import { Heat, Lines } from "/page/js/charts-two.js";
import { decimalsFor, key, number } from "/page/js/format.js";
import { html, useEffect, useRef, useState } from "/page/vendor/preact.js";

export function useWidth() {
  const box = useRef(null), [width, setWidth] = useState(0);
  useEffect(() => {
    const watch = new ResizeObserver(() => box.current && setWidth(Math.floor(box.current.clientWidth)));
    watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  return [box, width];
}

const whisker = (x, low, high, y, size) => `M${x(low)} ${y}H${x(high)} M${x(low)} ${y - size}v${2 * size} M${x(high)} ${y - size}v${2 * size}`;

/** Lying bars: solid from 0 to the nearer end of the interval, faded to the farther one. */
function Bars({ points, width, label }) {
  const longest = Math.max(...points.map((each) => each.name.length)), widest = Math.max(...points.map((each) => each.text.length));
  const left = Math.min(width * 0.36, longest * 7.4 + 14), right = widest * 8 + 16, most = Math.floor(left / 7.4);
  const isMany = points.length > 8, step = isMany ? 26 : 38, thick = isMany ? 13 : 18, height = points.length * step + 26;
  const [low, high] = reach(points, true);
  const x = (value) => left + (value - low) / (high - low) * (width - left - right);
  const clipped = (name) => (name.length > most ? `${name.slice(0, Math.max(1, most - 1))}…` : name);
  return html`<svg width=${width} height=${height} role="img" aria-label=${label}>
    ${steps(low, high, width < 420 ? 3 : 5).map((at) => html`<g key=${at}><line class=${at === 0 ? "axis" : "grid"} x1=${x(at)} x2=${x(at)} y1="0" y2=${height - 24} />
      <text x=${x(at)} y=${height - 7} text-anchor="middle">${brief(at)}</text></g>`)}
    ${points.map((each, i) => {
      const y = i * step + (step - thick) / 2, middle = y + thick / 2, value = each.value ?? 0;
      const from = each.low ?? 0, to = each.high ?? value;
      const near = from > 0 ? from : to < 0 ? to : 0, ends = each.ghost ? [value - each.ghost, value + each.ghost] : null;
      return html`<g key=${i}><text class="key" x=${left - 10} y=${middle + 4.5} text-anchor="end">${clipped(each.name)}</text>
        ${near !== 0 && html`<rect class="solid" x=${Math.min(x(0), x(near))} y=${y} width=${Math.abs(x(near) - x(0))} height=${thick} />`}
        <rect class="fade" x=${x(Math.min(from, to))} y=${y} width=${Math.max(1, Math.abs(x(to) - x(from)))} height=${thick} />
        ${each.low !== null && html`<path class="whisk" d=${whisker(x, from, to, middle, 4)} />`}
        ${ends && html`<path class="ghost" d=${whisker(x, ...ends, y + thick + 5, 3)} />`}
        <text class="val" x=${x(Math.max(to, value, 0, ends ? ends[1] : 0)) + 9} y=${middle + 4.5}>${each.text}</text></g>`;
    })}</svg>`;
}

/** A line in its band, over time or numbers. */
function Line({ points, width, label, isCount }) {
  const rows = points.filter((each) => each.value !== null && Number.isFinite(placeOf(each.keys[0]))).sort((a, b) => placeOf(a.keys[0]) - placeOf(b.keys[0]));
  const height = 280, left = 52, right = 14, top = 10, bottom = 26;
  const [low, high] = reach(rows, isCount), first = rows[0].keys[0], last = rows.at(-1).keys[0];
  const x = (each) => left + (placeOf(each.keys[0]) - placeOf(first)) / (placeOf(last) - placeOf(first) || 1) * (width - left - right);
  const y = (value) => top + (1 - (value - low) / (high - low)) * (height - top - bottom);
  const path = (value, some = rows) => some.map((each, i) => `${i ? "L" : "M"}${x(each).toFixed(1)} ${y(value(each)).toFixed(1)}`).join("");
  const band = `${path((each) => each.high ?? each.value)}${path((each) => each.low ?? each.value, [...rows].reverse()).replace("M", "L")}Z`;
  const every = Math.ceil(rows.length / (width < 420 ? 4 : 6));
  return html`<svg width=${width} height=${height} role="img" aria-label=${label}>
    ${steps(low, high, 4).map((at) => html`<g key=${at}><line class=${at === 0 ? "axis" : "grid"} x1=${left} x2=${width - right} y1=${y(at)} y2=${y(at)} />
      <text x=${left - 8} y=${y(at) + 4} text-anchor="end">${brief(at)}</text></g>`)}
    ${rows.map((each, i) => i % every === 0 && x(each) < width - 24 && html`<text key=${i} x=${x(each)} y=${height - 7}
      text-anchor=${i ? "middle" : "start"}>${axisText(each.keys[0], first, last)}</text>`)}
    <path class="band" d=${band} />
    ${rows[0].ghost && [1, -1].map((side) => html`<path key=${side} class="ghostband" d=${path((each) => each.value + side * each.ghost)} />`)}
    <path class="line" d=${path((each) => each.value)} /></svg>`;
}

/** One row: each number in its interval. */
function Single({ answer, ghost, width, label }) {
  const all = numbersOf(answer).slice(0, 4).map((column) => [column, pointsOf(answer, column, ghost)[0]]).filter(([, each]) => each.value !== null);
  const high = 104;
  return html`<svg width=${width} height=${all.length * high} role="img" aria-label=${label}>${all.map(([column, each], i) => {
    const [from, to] = [each.low ?? each.value, each.high ?? each.value], wide = Math.max(to - from, 2 * (each.ghost ?? 0)) || 1;
    const begin = Math.min(from, each.value) - wide * 0.45, x = (value) => 24 + (value - begin) / (wide * 1.9) * (width - 48), y = i * high + 46;
    const near = Math.min(x(to) - x(each.value), x(each.value) - x(from)) < 56;
    return html`<g key=${column.name}><text class="key" x="24" y=${y - 24}>${key(column.name)}</text>
      <line class="axis" x1="24" x2=${width - 24} y1=${y} y2=${y} />
      <rect class="fade" x=${x(from)} y=${y - 9} width=${Math.max(1, x(to) - x(from))} height="18" /><path class="whisk" d=${whisker(x, from, to, y, 9)} />
      ${each.ghost && html`<path class="ghost" d=${whisker(x, each.value - each.ghost, each.value + each.ghost, y + 15, 3)} />`}
      <circle class="dot" cx=${x(each.value)} cy=${y} r="5" />
      <text class="val" x=${x(each.value)} y=${y + 34} text-anchor="middle">${each.text}</text>
      ${each.low !== null && !near && [from, to].map((end) => html`<text key=${end} x=${x(end)} y=${y + 34} text-anchor="middle">${number(end, column.type === "integer" ? 0 : decimalsFor(each.half ?? to - from))}</text>`)}</g>`;
  })}</svg>`;
}

/** The chart that fits an answer. `ghost` has the margins that the preview promises, by column. */
export function Chart({ answer, column, ghost }) {
  const [box, width] = useWidth();
  const kind = kindOf(answer), shown = column ?? numbersOf(answer)[0];
  if (kind === "none") return null;
  const points = pointsOf(answer, shown, ghost), label = sentenceOf(answer, shown), isCount = shown.type === "integer";
  const Drawn = { bars: Bars, line: Line, single: Single, heat: Heat, lines: Lines }[kind];
  return html`<div class="chart" data-kind=${kind} ref=${box}>${width > 40 && html`
    <${Drawn} answer=${answer} points=${points} width=${width} label=${label} ghost=${ghost} isCount=${isCount} keys=${keysOf(answer)} />`}</div>`;
}
