// Composition: what many answers cost together, and how many fit a budget.
import { amount, number } from "/page/js/format.js";
import { apart, Chart, EPSILONS, factors, Figures, Knob, line, Panel, useComputed } from "/page/js/learn/playground.js";
import { Fragment, html, useState } from "/page/vendor/preact.js";

const COUNTS = factors(1, 1000, 60);
const NAMES = { basic: "Basic", advanced: "Advanced", zCDP: "zCDP", RDP: "RDP", PLD: "PLD" };
const LEFT = 44, RIGHT = 74, TOP = 12, FOOT = 40;

function draw(curves, number_, budget) {
  return (width, height) => {
    const all = Object.values(curves.costs).flat();
    const low = Math.min(...all) * 0.9, high = Math.max(...all) * 1.1;
    const x = (k) => LEFT + ((width - LEFT - RIGHT) * Math.log(k)) / Math.log(1000);
    const y = (e) => height - FOOT - ((height - FOOT - TOP) * Math.log(e / low)) / Math.log(high / low);
    const powers = [0.01, 0.1, 1, 10, 100, 1000, 10000].filter((each) => each >= low && each <= high);
    const ends = apart(Object.entries(curves.costs).map(([name, costs]) => [name, y(costs.at(-1))]));
    return html`${powers.map((each) => html`<g key=${each}><line class="grid" x1=${LEFT} x2=${width - RIGHT} y1=${y(each)} y2=${y(each)} />
        <text x=${LEFT - 7} y=${y(each) + 4} text-anchor="end">${amount(each)}</text></g>`)}
      ${[1, 10, 100, 1000].map((each) => html`<text key=${each} x=${x(each)} y=${height - 22} text-anchor="middle">${number(each)}</text>`)}
      <text x=${(LEFT + width - RIGHT) / 2} y=${height - 4} text-anchor="middle">answers</text><text x="2" y="11">ε</text>
      ${budget > low && budget < high && html`<line class="limit" x1=${LEFT} x2=${width - RIGHT} y1=${y(budget)} y2=${y(budget)} />
        <text class="cost" x=${LEFT + 6} y=${y(budget) - 6}>budget ε ${amount(budget)}</text>`}
      <line class="here" x1=${x(number_)} x2=${x(number_)} y1=${TOP} y2=${height - FOOT} />
      ${Object.entries(curves.costs).map(([name, costs]) => html`<path key=${name} class=${`cost-line ${name}`} d=${line(curves.counts.map(x), costs.map(y))} />`)}
      ${Object.entries(curves.at).map(([name, cost]) => html`<circle key=${name} class=${`at ${name}`} cx=${x(number_)} cy=${y(cost)} r="3" />`)}
      ${ends.map(([name, at]) => html`<text key=${name} class="key" x=${width - RIGHT + 8} y=${at + 4}>${NAMES[name]}</text>`)}`;
  };
}

/** How much of the budget the answers use, by each method. */
function Bars({ curves, budget }) {
  return html`<table class="fits"><caption class="vh">What the answers cost, and how many fit the budget</caption>
    <thead><tr><th scope="col">Method</th><th scope="col">Part of the budget</th><th scope="col" class="right">Cost</th><th scope="col" class="right">Answers that fit</th></tr></thead>
    <tbody>${Object.entries(curves.at).map(([name, cost]) => {
      const share = cost / budget;
      return html`<tr key=${name}><th scope="row">${NAMES[name]}</th>
        <td class="grow"><span class=${`meter ${share > 1 ? "over" : ""}`} aria-hidden="true"><i style=${{ width: `${Math.min(100, 100 * share)}%` }} /></span></td>
        <td class="num">ε ${amount(cost)}</td><td class="num"><b>${curves.fits[name] >= 1000 ? "1,000 or more" : number(curves.fits[name])}</b></td></tr>`;
    })}</tbody></table>`;
}

const remaining = (left) => (left > 0 ? `ε ${amount(left)}` : "none");

export default function Composition({ id, title, numbers }) {
  const [epsilon, setEpsilon] = useState(0.1);
  const [count, setCount] = useState(60);
  const [budget, setBudget] = useState(4);
  const [delta, setDelta] = useState(1e-6);
  const reply = useComputed("composition", { epsilon, count, delta, budget });
  const curves = reply.value;
  const best = curves && Object.entries(curves.at).reduce((a, b) => (b[1] < a[1] ? b : a));
  return html`<${Panel} id=${id} title=${title} numbers=${numbers} reply=${reply}
    see="Costs add up: each answer shrinks the budget. Better accounting methods prove a smaller total for the same answers. They need a small δ."
    controls=${html`<${Knob} label="Cost of each answer" isCost steps=${EPSILONS.filter((each) => each <= 2)} value=${epsilon} onChange=${setEpsilon} format=${(v) => `ε ${amount(v)}`} />
      <${Knob} label="Answers" steps=${COUNTS} value=${count} onChange=${setCount} format=${(v) => number(v)} />
      <${Knob} label="Budget" isCost steps=${factors(0.1, 100, 46)} value=${budget} onChange=${setBudget} format=${(v) => `ε ${amount(v)}`} />
      <${Knob} label="δ" isCost steps=${factors(1e-12, 1e-2, 31)} value=${delta} onChange=${setDelta} format=${(v) => v.toExponential(0)} />`}
    figures=${curves && html`<${Figures} rows=${[
      [`${number(count)} answers, added up`, `ε ${amount(curves.at.basic)}`],
      ["The smallest proved total", `ε ${amount(best[1])}`],
      ["Proved by", NAMES[best[0]]],
      ["Budget remaining, added up", remaining(budget - curves.at.basic)],
      [`Budget remaining, ${NAMES[best[0]]}`, remaining(budget - best[1])],
    ]} />`}>
    ${curves && html`<${Fragment}><${Chart} height=${300} draw=${draw(curves, count, budget)} label=${`The total cost of 1 to 1,000 answers. ${number(count)} answers cost epsilon ${amount(curves.at.basic)} by adding up, and ${amount(best[1])} by ${NAMES[best[0]]}.`} />
      <${Bars} curves=${curves} budget=${budget} /></${Fragment}>`}
  </${Panel}>`;
}
