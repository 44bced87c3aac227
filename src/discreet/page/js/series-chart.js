// The chart of a series: a line in its band for each group, and a slider that reads one tick after the other.
import { axisText, brief, keyText, placeOf, reach, steps } from "/page/js/charts-shape.js";
import { useWidth } from "/page/js/charts.js";
import { decimalsFor, key, margin, number } from "/page/js/format.js";
import { html, useEffect, useState } from "/page/vendor/preact.js";

export const MOST_LINES = 6;
const DASHES = ["", "8 3", "2 3", "10 3 2 3", "5 2", "1 2.5"];

/** The ticks of a table, and for each group its numbers at every tick. */
export function linesOf(table, column) {
  const at = table.names.lastIndexOf(column), keys = table.keys.length;
  const groups = new Map(), ticks = [...new Set(table.rows.map((row) => row[0]))];
  for (const row of table.rows) {
    const name = keys ? row.slice(1, 1 + keys).map(keyText).join(", ") : key(column);
    if (!groups.has(name)) groups.set(name, []);
    const value = row[at], half = row[at + 1];
    groups.get(name).push({ tick: row[0], value, half, low: value - half, high: value + half });
  }
  return { ticks, groups: [...groups].map(([name, points], i) => ({ name, points, place: i % MOST_LINES })) };
}

/** The beginning of a tick: a day, or a day and an hour. */
export const tickText = (tick, clock) => (clock === "hour" ? tick.slice(0, 16).replace("T", " ") : tick.slice(0, clock === "month" ? 7 : 10));
const said = (each) => `${number(each.value, decimalsFor(each.half))} ${margin(each.half)}`;

/** A piece of the line of a group, as the legend shows it. */
export function Swatch({ place }) {
  return html`<svg class="swatch" width="26" height="10" aria-hidden="true"><rect class=${`a${place}`} width="26" height="10" /><path class=${`s${place}`} d="M0 5H26" stroke-dasharray=${DASHES[place]} /></svg>`;
}

function Drawing({ lines, ticks, at, onAt, width, label }) {
  const height = width < 500 ? 240 : 320, left = 54, right = 14, top = 10, bottom = 26;
  const [low, high] = reach(lines.flatMap((each) => each.points), true);
  const from = placeOf(ticks[0]), to = placeOf(ticks.at(-1));
  const x = (tick) => left + (placeOf(tick) - from) / (to - from || 1) * (width - left - right);
  const y = (value) => top + (1 - (value - low) / (high - low)) * (height - top - bottom);
  const path = (points, value) => points.map((each, i) => `${i ? "L" : "M"}${x(each.tick).toFixed(1)} ${y(value(each)).toFixed(1)}`).join("");
  const band = ({ points }) => `${path(points, (each) => each.high)}${path([...points].reverse(), (each) => each.low).replace("M", "L")}Z`;
  const every = Math.ceil(ticks.length / (width < 500 ? 3 : 6));
  const pointed = (event) => {
    const share = (event.offsetX - left) / (width - left - right), moment = from + share * (to - from);
    onAt(ticks.reduce((best, each, i) => (Math.abs(placeOf(each) - moment) < Math.abs(placeOf(ticks[best]) - moment) ? i : best), 0));
  };
  return html`<svg width=${width} height=${height} role="img" aria-label=${label} onPointerMove=${pointed} onPointerDown=${pointed}>
    ${steps(low, high, 4).map((each) => html`<g key=${each}><line class=${each === 0 ? "axis" : "grid"} x1=${left} x2=${width - right} y1=${y(each)} y2=${y(each)} />
      <text x=${left - 8} y=${y(each) + 4} text-anchor="end">${brief(each)}</text></g>`)}
    ${ticks.map((each, i) => i % every === 0 && x(each) < width - 30 && html`<text key=${i} x=${x(each)} y=${height - 7}
      text-anchor=${i ? "middle" : "start"}>${axisText(each, ticks[0], ticks.at(-1))}</text>`)}
    ${lines.map((each) => html`<path key=${each.name} class=${`a${each.place}`} d=${band(each)} />`)}
    ${lines.map((each) => html`<path key=${each.name} class=${`s${each.place}`} stroke-dasharray=${DASHES[each.place]} d=${path(each.points, (point) => point.value)} />`)}
    <line class="cursor" x1=${x(ticks[at])} x2=${x(ticks[at])} y1=${top} y2=${height - bottom} />
    ${lines.map((each) => html`<circle key=${each.name} class=${`d${each.place}`} cx=${x(ticks[at])} cy=${y(each.points[at].value)} r="4" />`)}</svg>`;
}

/** The chart of one column of a series, its legend, and the numbers of one tick. */
export function SeriesChart({ table, column, title }) {
  const [box, width] = useWidth();
  const { ticks, groups } = linesOf(table, column);
  const [hidden, setHidden] = useState(() => new Set(groups.slice(MOST_LINES).map((each) => each.name)));
  const [chosen, setAt] = useState(null);
  useEffect(() => setAt(null), [table]);
  const at = Math.min(chosen ?? ticks.length - 1, ticks.length - 1), lines = groups.filter((each) => !hidden.has(each.name));
  const toggle = (name) => { const next = new Set(hidden); if (!next.delete(name)) next.add(name); setHidden(next); };
  const words = `${tickText(ticks[at], table.clock)}: ${lines.map((each) => `${groups.length > 1 ? `${each.name} ` : ""}${said(each.points[at])}`).join(", ")}`;
  const label = `${title}, ${key(column)}: ${number(ticks.length)} ticks from ${tickText(ticks[0], table.clock)} to ${tickText(ticks.at(-1), table.clock)}. The table below has the numbers`;
  return html`<div class="series-chart">
    ${groups.length > 1 && html`<div class="legend" role="group" aria-label="Lines">${groups.map((each) => html`<button type="button" key=${each.name}
      aria-pressed=${!hidden.has(each.name)} onClick=${() => toggle(each.name)}><${Swatch} place=${each.place} />${each.name}</button>`)}</div>`}
    <div class="chart" ref=${box}>${width > 40 && html`<${Drawing} lines=${lines} ticks=${ticks} at=${at} onAt=${setAt} width=${width} label=${label} />`}</div>
    <div class="reader"><input type="range" min="0" max=${ticks.length - 1} value=${at} aria-label="Tick" aria-valuetext=${words}
      onInput=${(event) => setAt(Number(event.target.value))} /><p class="num small">${words}</p></div></div>`;
}
