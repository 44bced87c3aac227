// Charts of answers with two group keys: squares, or one line for each value of a key.
import { axisText, brief, keyText, placeOf, reach, steps } from "/page/js/charts-shape.js";
import { html } from "/page/vendor/preact.js";

const once = (values) => [...new Map(values.map((each) => [keyText(each), each])).values()];
let patterns = 0;

/** A square for each pair of keys; hatched if the margin is more than a third of the value. */
export function Heat({ points, width, label }) {
  const [ys, xs] = [0, 1].map((at) => once(points.map((each) => each.keys[at])));
  const of = new Map(points.map((each) => [each.keys.map(keyText).join("\n"), each]));
  const texts = ys.map(keyText), left = Math.min(width * 0.3, Math.max(...texts.map((each) => each.length)) * 7.6 + 16);
  const gap = 3, top = 26, h = xs.length > 6 ? 40 : 50, w = (width - left - gap * (xs.length - 1)) / xs.length;
  const most = Math.max(...points.map((each) => each.value ?? 0), 1), name = `doubt-${patterns += 1}`, fits = Math.max(1, Math.floor(w / 7.6)), isWide = w >= 52;
  const clipped = (text, room) => (text.length > room ? `${text.slice(0, Math.max(1, room - 1))}…` : text);
  return html`<svg width=${width} height=${top + ys.length * (h + gap)} role="img" aria-label=${label}>
    <defs><pattern id=${name} width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line class="doubt" x1="0" x2="0" y1="0" y2="6" /></pattern></defs>
    ${xs.map((each, i) => html`<text key=${i} class="key" x=${left + i * (w + gap) + w / 2} y="15" text-anchor="middle">${clipped(keyText(each), fits)}</text>`)}
    ${ys.map((a, j) => html`<g key=${j}><text class="key" x=${left - 12} y=${top + j * (h + gap) + h / 2 + 4} text-anchor="end">${clipped(texts[j], Math.floor(left / 7.6) - 1)}</text>
      ${xs.map((b, i) => {
        const each = of.get([a, b].map(keyText).join("\n"));
        const x = left + i * (w + gap), y = top + j * (h + gap), middle = x + w / 2;
        if (!each || each.value === null) return html`<rect key=${i} class="absent" x=${x} y=${y} width=${w} height=${h} rx="4" />`;
        const share = Math.max(0, each.value / most), isDoubtful = each.half === null || each.half > Math.abs(each.value) / 3;
        return html`<g key=${i}><rect class="solid" x=${x} y=${y} width=${w} height=${h} rx="4" opacity=${(0.05 + 0.5 * share).toFixed(3)} />
          ${isDoubtful && html`<rect class="doubtful" x=${x} y=${y} width=${w} height=${h} rx="4" fill=${`url(#${name})`} />`}
          <text class="val" x=${middle} y=${y + h / 2 - (isWide ? 1 : -4)} text-anchor="middle">${isWide ? each.text : brief(Number(each.value.toPrecision(2)))}</text>
          ${isWide && html`<text class="in" x=${middle} y=${y + h / 2 + 14} text-anchor="middle">${each.error}</text>`}</g>`;
      })}</g>`)}</svg>`;
}

const DASHES = ["", "7 3", "2 3", "10 3 2 3", "4 2", "1 2"];

/** Lines over time or numbers, one for each value of the other key; each is dashed in its own way. */
export function Lines({ points, width, label, isCount }) {
  const sizes = [0, 1].map((at) => once(points.map((each) => each.keys[at])).length);
  const along = sizes[0] >= sizes[1] ? 0 : 1, names = once(points.map((each) => each.keys[1 - along]));
  const rows = points.filter((each) => each.value !== null && Number.isFinite(placeOf(each.keys[along])));
  const places = rows.map((each) => placeOf(each.keys[along])), from = Math.min(...places), to = Math.max(...places);
  const height = 300, left = 52, right = 90, top = 10, bottom = 26, [low, high] = reach(rows, isCount);
  const x = (each) => left + (placeOf(each.keys[along]) - from) / (to - from || 1) * (width - left - right);
  const y = (value) => top + (1 - (value - low) / (high - low)) * (height - top - bottom);
  const keys = once(rows.map((each) => each.keys[along])).sort((a, b) => placeOf(a) - placeOf(b)), every = Math.ceil(keys.length / (width < 420 ? 3 : 6));
  const path = (some, value) => some.map((each, i) => `${i ? "L" : "M"}${x(each).toFixed(1)} ${y(value(each)).toFixed(1)}`).join("");
  const lines = names.map((name) => rows.filter((each) => keyText(each.keys[1 - along]) === keyText(name)).sort((a, b) => x(a) - x(b)));
  return html`<svg width=${width} height=${height} role="img" aria-label=${label}>
    ${steps(low, high, 4).map((at) => html`<g key=${at}><line class=${at === 0 ? "axis" : "grid"} x1=${left} x2=${width - right} y1=${y(at)} y2=${y(at)} />
      <text x=${left - 8} y=${y(at) + 4} text-anchor="end">${brief(at)}</text></g>`)}
    ${keys.map((each, i) => i % every === 0 && html`<text key=${i} x=${x({ keys: along ? [null, each] : [each] })} y=${height - 7} text-anchor=${i ? "middle" : "start"}>${axisText(each, keys[0], keys.at(-1))}</text>`)}
    ${lines.map((some, i) => some.length > 0 && html`<g key=${i}>
      <path class="band" d=${`${path(some, (each) => each.high ?? each.value)}${path([...some].reverse(), (each) => each.low ?? each.value).replace("M", "L")}Z`} />
      <path class="line" stroke-dasharray=${DASHES[i % DASHES.length]} d=${path(some, (each) => each.value)} />
      <text class="key" x=${width - right + 8} y=${y(some.at(-1).value) + 4}>${keyText(names[i]).slice(0, 11)}</text></g>`)}</svg>`;
}
