// Two neighbours: the distributions of an answer without and with you, the band, and draws as dots.
import { amount, count, margin, number } from "/page/js/format.js";
import { area, Chart, compute, EPSILONS, factors, Figures, Knob, Legend, line, Panel, percent, percentUp, range, ticks, useComputed } from "/page/js/learn/playground.js";
import { Button, Choice } from "/page/js/ui.js";
import { Fragment, html, useEffect, useState } from "/page/vendor/preact.js";

const KINDS = [["geometric", "Geometric"], ["laplace", "Laplace"], ["gaussian", "Gaussian"], ["staircase", "Staircase"]];
const MOST_DOTS = 400, DOT = 3.2, MOST_BARS = 70;
const TOP = 12, BASE = 214, HIGH = 264, LOW = 304, HEIGHT = 326, HEAP = 92;

function scales(width, curves) {
  const low = curves.places[0], high = curves.places.at(-1), pad = curves.is_whole ? 0.5 : 0;
  const x = (value) => (width * (value - low + pad)) / (high - low + 2 * pad);
  const peak = Math.max(...curves.without_you, ...curves.with_you);
  const top = Math.min(Math.max(...curves.high), 2.2 * peak);
  return { x, y: (p) => BASE - (BASE - TOP) * Math.min(1.03, p / top), low, high };
}

function Bars({ curves, x, y }) {
  const half = Math.max(1.5, (x(1) - x(0)) * 0.36);
  return curves.places.map((place, i) => html`<g key=${place}>
    <rect class="reach" x=${x(place) - half} width=${2 * half} y=${y(curves.high[i])} height=${Math.max(1, y(curves.low[i]) - y(curves.high[i]))} />
    <rect class="solid" x=${x(place) - half} width=${half - 0.5} y=${y(curves.without_you[i])} height=${BASE - y(curves.without_you[i])} />
    <rect class="second" x=${x(place) + 0.5} width=${half - 0.5} y=${y(curves.with_you[i])} height=${BASE - y(curves.with_you[i])} /></g>`);
}

function Lines({ curves, x, y }) {
  const xs = curves.places.map(x), up = (values) => values.map(y);
  return html`<path class="reach" d=${area(xs, up(curves.high), up(curves.low))} />
    <path class="line" d=${line(xs, up(curves.without_you))} /><path class="l2" d=${line(xs, up(curves.with_you))} />`;
}

/** The likelihood ratio on a log scale, between e^-ε and e^ε. */
function Ratio({ curves, x, width, epsilon }) {
  const most = Math.max(epsilon, ...curves.loss.map(Math.abs));
  const y = (loss) => (HIGH + LOW) / 2 - ((LOW - HIGH) / 2) * (loss / most);
  return html`<rect class="reach" x="0" width=${width} y=${y(epsilon)} height=${y(-epsilon) - y(epsilon)} />
    <line class="grid" x1="0" x2=${width} y1=${y(epsilon)} y2=${y(epsilon)} /><line class="grid" x1="0" x2=${width} y1=${y(-epsilon)} y2=${y(-epsilon)} />
    <path class="whisk" d=${line(curves.places.map(x), curves.loss.map(y))} />
    <text x="2" y=${HIGH - 6}>likelihood ratio: band up to e^ε = ${amount(curves.ratio)}</text>
    <text x=${width - 2} y=${LOW + 16} text-anchor="end">down to e^−ε = ${amount(1 / curves.ratio)}</text>`;
}

function draw(curves, epsilon) {
  return (width) => {
    const { x, y, low, high } = scales(width, curves);
    const labels = ticks(low, high, Math.min(8, width / 70)).filter((each) => x(each) > 12 && x(each) < width - 12);
    return html`<line class="axis" x1="0" x2=${width} y1=${BASE} y2=${BASE} />
      ${curves.is_whole && curves.places.length <= MOST_BARS ? html`<${Bars} curves=${curves} x=${x} y=${y} />` : html`<${Lines} curves=${curves} x=${x} y=${y} />`}
      ${labels.map((each) => html`<text key=${each} x=${x(each)} y=${BASE + 17} text-anchor="middle">${number(each)}</text>`)}
      <${Ratio} curves=${curves} x=${x} width=${width} epsilon=${epsilon} />`;
  };
}

/** Draws as dots that pile up, petrol without you and copper with you. */
function heap(dots, curves) {
  return (width) => {
    const { x } = scales(width, curves), piles = new Map(), tall = Math.floor((HEAP - 4) / (2 * DOT));
    const placed = dots.map((dot) => {
      const slot = Math.round(x(dot.value) / (2 * DOT)), n = piles.get(slot) ?? 0;
      piles.set(slot, n + 1);
      return { dot, slot, n };
    }).filter(({ slot }) => slot >= 0 && slot <= width / (2 * DOT));
    const most = Math.max(tall, ...piles.values()), step = (HEAP - 4) / most;
    return html`<line class="axis" x1="0" x2=${width} y1=${HEAP - 0.5} y2=${HEAP - 0.5} />
      ${!dots.length && html`<text x=${width / 2} y=${HEAP / 2 + 4} text-anchor="middle">Draw answers: their dots pile up here.</text>`}
      ${placed.map(({ dot, slot, n }) => html`<circle key=${dot.key} class=${`drop ${dot.is_with_you ? "with" : "without"}`}
        cx=${slot * 2 * DOT} cy=${HEAP - 1 - DOT - n * step} r=${DOT - 0.3} />`)}`;
  };
}

let made = 0;

export default function Neighbours({ id, title, numbers }) {
  const [kind, setKind] = useState("geometric");
  const [epsilon, setEpsilon] = useState(0.5);
  const [sensitivity, setSensitivity] = useState(1);
  const [delta, setDelta] = useState(1e-5);
  const [dots, setDots] = useState([]);
  const [error, setError] = useState(null);
  const body = { mechanism: kind, epsilon, sensitivity, delta };
  const reply = useComputed("neighbours", body);
  const key = JSON.stringify(body);
  useEffect(() => setDots([]), [key]);
  const drop = async (n) => {
    try {
      const { draws } = await compute("draws", { ...body, count: n });
      setDots((before) => [...before, ...draws.map((each) => ({ ...each, key: (made += 1) }))].slice(-MOST_DOTS));
      setError(null);
    } catch (found) { setError(found); }
  };
  const curves = reply.value, last = dots.at(-1), you = dots.filter((each) => each.is_with_you).length;
  const shown = curves && number(last?.value, curves.is_whole ? 0 : 1);
  return html`<${Panel} id=${id} title=${title} numbers=${numbers} reply=${{ ...reply, error: reply.error ?? error }}
    tag=${html`<${Choice} label="Noise" options=${KINDS} value=${kind} onChange=${setKind} />`}
    see=${kind === "gaussian" ? "The copper distribution stays in the shaded band around the petrol one, except far out in the tails: δ bounds the probability of that."
      : "The copper distribution never leaves the shaded band around the petrol one. So no answer shows for sure whether you are in the data."}
    controls=${html`<${Knob} label="Cost ε" isCost steps=${EPSILONS} value=${epsilon} onChange=${setEpsilon} format=${(v) => `ε ${amount(v)}`} />
      <${Knob} label="One person can change" steps=${range(1, 10)} value=${sensitivity} onChange=${setSensitivity} />
      ${kind === "gaussian" && html`<${Knob} label="δ" isCost steps=${factors(1e-9, 1e-2, 22)} value=${delta} onChange=${setDelta} format=${(v) => v.toExponential(0)} />`}
      <div class="btns"><${Button} onClick=${() => drop(1)}>Draw 1</${Button}><${Button} onClick=${() => drop(100)}>Draw 100</${Button}
        ><${Button} kind="ghost" disabled=${!dots.length} onClick=${() => setDots([])}>Clear</${Button}></div>`}
    figures=${curves && html`<${Figures} rows=${[
      ["Margin of error, 95%", margin(curves.margin)],
      [curves.delta ? "Likelihood ratio, nearly always" : "Likelihood ratio, at most", amount(curves.ratio)],
      [curves.delta ? "A fair guess is right at most" : "50% sure becomes at most", percentUp(curves.belief)],
      last ? [`After the answer ${shown}`, percent(last.belief)] : ["After one answer", "–"],
      dots.length > 0 && ["Drawn without, with you", `${number(dots.length - you)}, ${number(you)}`],
    ]} />`}>
    ${curves && html`<${Fragment}><${Legend} items=${[["", `without you: ${number(curves.exact[0])}`], ["price", `with you: ${number(curves.exact[1])}`], ["fade", "within a factor e^ε"]]} />
      <${Chart} height=${HEIGHT} draw=${draw(curves, epsilon)} label=${`Two distributions around ${curves.exact.join(" and ")}. Their likelihood ratio is at most ${amount(curves.ratio)}${curves.delta ? ", except with a probability that delta bounds" : " everywhere"}.`} />
      <${Chart} height=${HEAP} draw=${heap(dots, curves)} label=${`${count(dots.length, "draw")}: ${dots.length - you} without you, ${you} with you.`} /></${Fragment}>`}
  </${Panel}>`;
}
