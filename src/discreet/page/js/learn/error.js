// Error against ε: margins of error of four mechanisms, on two log scales.
import { amount, margin, number } from "/page/js/format.js";
import { apart, Chart, EPSILONS, factors, Figures, Knob, line, Panel, percent, range, useComputed } from "/page/js/learn/playground.js";
import { Choice } from "/page/js/ui.js";
import { html, useState } from "/page/vendor/preact.js";

const NAMES = { geometric: "Geometric", laplace: "Laplace", gaussian: "Gaussian", staircase: "Staircase" };
const LEFT = 50, RIGHT = 82, TOP = 12, FOOT = 40;

/** Powers of ten between two numbers. */
const powers = (low, high) => range(Math.ceil(Math.log10(low)), Math.floor(Math.log10(high))).map((each) => 10 ** each);

function draw(curves, chosen, epsilon) {
  return (width, height) => {
    // a margin of a count may be 0: it is drawn at the bottom
    const every = Object.values(curves.margins).flat(), all = every.filter((each) => each > 0), hasZero = every.includes(0);
    const low = Math.min(...all) * (hasZero ? 0.4 : 0.8), high = Math.max(...all) * 1.2;
    const x = (e) => LEFT + ((width - LEFT - RIGHT) * Math.log(e / 0.01)) / Math.log(1000);
    const y = (m) => height - FOOT - ((height - FOOT - TOP) * Math.log(Math.max(m, low) / low)) / Math.log(high / low);
    const kinds = Object.entries(curves.margins).sort(([a]) => (a === chosen ? 1 : -1));
    return html`${powers(low, high).map((each) => html`<g key=${each}><line class="grid" x1=${LEFT} x2=${width - RIGHT} y1=${y(each)} y2=${y(each)} />
        <text x=${LEFT - 7} y=${y(each) + 4} text-anchor="end">±${amount(each)}</text></g>`)}
      ${hasZero && html`<text x=${LEFT - 7} y=${height - FOOT + 4} text-anchor="end">±0</text>`}
      ${[0.01, 0.1, 1, 10].map((each) => html`<text key=${each} x=${x(each)} y=${height - 22} text-anchor="middle">${amount(each)}</text>`)}
      <text x=${(LEFT + width - RIGHT) / 2} y=${height - 4} text-anchor="middle">cost ε</text>
      <line class="limit" x1=${x(epsilon)} x2=${x(epsilon)} y1=${TOP} y2=${height - FOOT} />
      ${kinds.map(([name, margins]) => html`<path key=${name} class=${name === chosen ? "line bold" : "other"} d=${line(curves.epsilons.map(x), margins.map(y))} />`)}
      ${curves.at[chosen] !== undefined && html`<circle class="dot" cx=${x(epsilon)} cy=${y(curves.at[chosen])} r="5" />`}
      ${curves.margins[chosen] && html`<text class="val halo" x=${x(epsilon) + 9} y=${y(curves.at[chosen]) - 8}>${margin(curves.at[chosen])}</text>`}
      ${apart(kinds.map(([name, margins]) => [name, y(margins.at(-1))])).map(([name, at]) => html`
        <text key=${name} class=${name === chosen ? "key strong" : ""} x=${width - RIGHT + 8} y=${at + 4}>${NAMES[name]}</text>`)}`;
  };
}

export default function ErrorByEpsilon({ id, title, numbers }) {
  const [epsilon, setEpsilon] = useState(1);
  const [sensitivity, setSensitivity] = useState(1);
  const [answers, setAnswers] = useState(1);
  const [confidence, setConfidence] = useState(0.95);
  const [wanted, setWanted] = useState("geometric");
  const reply = useComputed("error", { epsilon, sensitivity, answers, confidence });
  const curves = reply.value;
  const kinds = Object.entries(NAMES).filter(([kind]) => kind !== "staircase" || answers === 1);
  const chosen = kinds.some(([kind]) => kind === wanted) ? wanted : "geometric";
  return html`<${Panel} id=${id} title=${title} numbers=${numbers} reply=${reply}
    tag=${html`<${Choice} label="Noise" options=${kinds} value=${chosen} onChange=${setWanted} />`}
    see="Half the ε means twice the margin of error. It does not grow with the number of people, so large groups are counted well."
    controls=${html`<${Knob} label="Cost ε" isCost steps=${EPSILONS} value=${epsilon} onChange=${setEpsilon} format=${(v) => `ε ${amount(v)}`} />
      <${Knob} label="One person can change" steps=${[1, 2, 3, 5, 10, 20, 50, 100]} value=${sensitivity} onChange=${setSensitivity} />
      <${Knob} label="Groups counted at once" steps=${factors(1, 10000, 17)} value=${answers} onChange=${setAnswers} format=${(v) => number(v)} />
      <${Knob} label="Confidence" steps=${[0.5, 0.8, 0.9, 0.95, 0.99, 0.999]} value=${confidence} onChange=${setConfidence} format=${(v) => percent(v, v > 0.99 ? 1 : 0)} />`}
    figures=${curves && html`<${Figures} rows=${Object.entries(NAMES).map(([kind, name]) => [
      kind === "gaussian" ? "Gaussian, δ = 1e-5" : name, curves.at[kind] === undefined ? "one answer only" : margin(curves.at[kind])])} />`}>
    ${curves && html`<${Chart} height=${380} draw=${draw(curves, chosen, epsilon)} label=${`Margins of error fall as epsilon grows. At epsilon ${amount(epsilon)}, ${NAMES[chosen]} noise has a margin of ${number(curves.at[chosen])}.`} />`}
  </${Panel}>`;
}
