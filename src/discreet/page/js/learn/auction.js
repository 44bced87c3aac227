// The auction: a price is chosen by its revenue, and no single bid decides it.
import { amount, number } from "/page/js/format.js";
import { Chart, EPSILONS, Figures, Knob, Legend, Panel, percent, range, ticks, useComputed, compute } from "/page/js/learn/playground.js";
import { Button } from "/page/js/ui.js";
import { Fragment, html, useEffect, useState } from "/page/vendor/preact.js";

const LEFT = 44, RIGHT = 12, TOP = 12, BASE = 268, REVENUE = 344, HEIGHT = 384;

function draw(found, chosen) {
  return (width) => {
    const n = found.prices.length, step = (width - LEFT - RIGHT) / n;
    const most = Math.max(...found.probabilities, ...found.without_first) * 1.08;
    const x = (i) => LEFT + i * step, y = (p) => BASE - ((BASE - TOP) * p) / most;
    const top = Math.max(...found.revenues, 0.1), h = (r) => (40 * r) / top, drawn = new Map();
    for (const each of chosen) drawn.set(each, (drawn.get(each) ?? 0) + 1);
    const dots = [...drawn].flatMap(([i, count]) => Array.from({ length: Math.min(count, 30) }, (_, k) => [i, k]));
    return html`${ticks(0, most, 4).map((each) => html`<g key=${each}><line class="grid" x1=${LEFT} x2=${width - RIGHT} y1=${y(each)} y2=${y(each)} />
        <text x=${LEFT - 7} y=${y(each) + 4} text-anchor="end">${percent(each, most < 0.05 ? 1 : 0)}</text></g>`)}
      ${found.prices.map((price, i) => html`<g key=${price}>
        <rect class="solid" x=${x(i) + 1} width=${Math.max(1, step - 2)} y=${y(found.probabilities[i])} height=${BASE - y(found.probabilities[i])} />
        <path class="l2" d=${`M${x(i)} ${y(found.without_first[i])}h${step}`} />
        <rect class="revenue" x=${x(i) + 1} width=${Math.max(1, step - 2)} y=${REVENUE - h(found.revenues[i])} height=${h(found.revenues[i])} /></g>`)}
      ${dots.map(([i, k]) => html`<circle key=${`${i} ${k}`} class="drop last" cx=${x(i) + step / 2} cy=${BASE - 4 - 6 * k} r="2.6" />`)}
      <line class="axis" x1=${LEFT} x2=${width - RIGHT} y1=${BASE} y2=${BASE} /><line class="axis" x1=${LEFT} x2=${width - RIGHT} y1=${REVENUE} y2=${REVENUE} />
      <text x=${LEFT} y=${REVENUE - 46}>revenue, up to ${amount(top)}</text>
      ${found.prices.map((price, i) => (i % (width < 420 ? 10 : 5) === (width < 420 ? 9 : 4) || i === 0) && html`<text key=${price} x=${x(i) + step / 2} y=${REVENUE + 16} text-anchor="middle">${number(price, 1)}</text>`)}
      <text x=${(LEFT + width - RIGHT) / 2} y=${HEIGHT - 4} text-anchor="middle">price</text>`;
  };
}

export default function Auction({ id, title, numbers }) {
  const [epsilon, setEpsilon] = useState(5);
  const [high, setHigh] = useState(4.1);
  const [others, setOthers] = useState(3);
  const [isMonotone, setMonotone] = useState(true);
  const [chosen, setChosen] = useState([]);
  const [error, setError] = useState(null);
  const body = { epsilon, bids: [high, ...Array(others).fill(1)], is_monotone: isMonotone };
  const reply = useComputed("auction", body);
  useEffect(() => setChosen([]), [JSON.stringify(body)]);
  const pick = async (draws) => {
    try { setChosen([...chosen, ...(await compute("auction", { ...body, draws })).chosen].slice(-200)); setError(null); } catch (caught) { setError(caught); }
  };
  const found = reply.value, last = chosen.at(-1);
  return html`<${Panel} id=${id} title=${title} numbers=${numbers} reply=${{ ...reply, error: reply.error ?? error }}
    see="Prices that earn more are likelier to be chosen. But leaving out the highest bid changes no probability by more than the factor e^ε."
    controls=${html`<${Knob} label="Cost ε" isCost steps=${EPSILONS} value=${epsilon} onChange=${setEpsilon} format=${(v) => `ε ${amount(v)}`} />
      <${Knob} label="Highest bid" steps=${range(0.1, 4.2, 0.1)} value=${high} onChange=${setHigh} format=${(v) => number(v, 2)} />
      <${Knob} label="Other bids of 1.00" steps=${range(1, 11)} value=${others} onChange=${setOthers} />
      <label class="check"><input type="checkbox" checked=${isMonotone} onChange=${(event) => setMonotone(event.target.checked)} /> bids only add revenue: half the noise</label>
      <div class="btns"><${Button} onClick=${() => pick(1)}>Choose one</${Button}><${Button} onClick=${() => pick(50)}>Choose 50</${Button}></div>`}
    figures=${found && html`<${Figures} rows=${[
      ["Best revenue", number(found.best, 2)],
      ["Expected revenue", number(found.expected, 2)],
      ["Falls short by at most, 95%", number(found.margin, 1)],
      last === undefined ? ["The chosen price earns", "–"] : [`The last price, ${number(found.prices[last], 1)}, earns`, number(found.revenues[last], 2)],
    ]} />`}>
    ${found && html`<${Fragment}><${Legend} items=${[["", "probability of each price"], ["ghost", "without the highest bid"], ["off", "revenue"], chosen.length > 0 && ["round", "chosen"]]} />
      <${Chart} height=${HEIGHT} draw=${draw(found, chosen)} label=${`Probabilities of 42 prices. The best revenue is ${number(found.best, 2)}, the expected one ${number(found.expected, 2)}.`} /></${Fragment}>`}
  </${Panel}>`;
}
