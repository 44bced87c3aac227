// Belief before and after: the range of beliefs that ε allows, and what a single answer does.
import { amount, number } from "/page/js/format.js";
import { area, Chart, compute, EPSILONS, Figures, Knob, Legend, line, Panel, percent, range, useComputed } from "/page/js/learn/playground.js";
import { Button, Choice } from "/page/js/ui.js";
import { Fragment, html, useEffect, useState } from "/page/vendor/preact.js";

const LEFT = 44, RIGHT = 14, TOP = 12, FOOT = 40, MOST = 60;

function draw(curves, prior, seen) {
  return (width, height) => {
    const x = (q) => LEFT + (width - LEFT - RIGHT) * q, y = (p) => height - FOOT - (height - FOOT - TOP) * p;
    const xs = curves.priors.map(x), [low, high] = curves.at, last = seen.at(-1);
    return html`${[0, 0.25, 0.5, 0.75, 1].map((each) => html`<g key=${each}><line class="grid" x1=${LEFT} x2=${width - RIGHT} y1=${y(each)} y2=${y(each)} />
        <text x=${LEFT - 7} y=${y(each) + 4} text-anchor="end">${percent(each)}</text><text x=${x(each)} y=${height - 22} text-anchor="middle">${percent(each)}</text></g>`)}
      <text x=${(LEFT + width - RIGHT) / 2} y=${height - 4} text-anchor="middle">belief before</text>
      <path class="band" d=${area(xs, curves.high.map(y), curves.low.map(y))} /><path class="other" d=${`M${x(0)} ${y(0)}L${x(1)} ${y(1)}`} />
      <path class="line" d=${line(xs, curves.high.map(y))} /><path class="line" d=${line(xs, curves.low.map(y))} />
      <line class="here" x1=${x(prior)} x2=${x(prior)} y1=${TOP} y2=${height - FOOT} />
      <path class="whisk bold" d=${`M${x(prior) - 6} ${y(low)}h12M${x(prior) - 6} ${y(high)}h12M${x(prior)} ${y(low)}V${y(high)}`} />
      ${seen.slice(0, -1).map((each) => html`<circle key=${each.key} class="before" cx=${x(prior)} cy=${y(each.belief)} r="3.5" />`)}
      ${last && html`<circle class="drop last" key=${last.key} cx=${x(prior)} cy=${y(last.belief)} r="5.5" />`}
      <text class="key halo" x=${x(prior) + (prior > 0.8 ? -12 : 12)} y=${y(high) - 5} text-anchor=${prior > 0.8 ? "end" : "start"}>at most ${percent(high, 1)}</text>
      <text class="key halo" x=${x(prior) + (prior > 0.8 ? -12 : 12)} y=${y(low) + 15} text-anchor=${prior > 0.8 ? "end" : "start"}>at least ${percent(low, 1)}</text>`;
  };
}

let made = 0;

export default function Belief({ id, title, numbers }) {
  const [prior, setPrior] = useState(0.4);
  const [epsilon, setEpsilon] = useState(1);
  const [about, setAbout] = useState("presence");
  const [seen, setSeen] = useState([]);
  const [error, setError] = useState(null);
  const reply = useComputed("belief", { prior, epsilon, about });
  useEffect(() => setSeen([]), [prior, epsilon, about]);
  const ask = async () => {
    try {
      const { draws: [found] } = await compute("draws", { mechanism: "geometric", epsilon, prior, count: 1 });
      setSeen((before) => [...before, { ...found, key: (made += 1) }].slice(-MOST));
      setError(null);
    } catch (caught) { setError(caught); }
  };
  const curves = reply.value, last = seen.at(-1);
  const [yes, no] = about === "presence" ? ["in the data", "not in the data"] : ["has the value", "has another value"];
  return html`<${Panel} id=${id} title=${title} numbers=${numbers} reply=${{ ...reply, error: reply.error ?? error }}
    tag=${html`<${Choice} label="Belief about" options=${[["presence", "Being in the data"], ["value", "A value"]]} value=${about} onChange=${setAbout} />`}
    see=${about === "presence" ? "Whatever an observer believed before, no answer moves the belief out of the band. The smaller ε, the thinner the band."
      : "A value of somebody who is known to be in the data can be revealed by up to 2ε: their row is removed, and another one added."}
    controls=${html`<${Knob} label="Belief before" steps=${range(0.01, 0.99, 0.01)} value=${prior} onChange=${setPrior} format=${(v) => percent(v)} />
      <${Knob} label="Cost ε" isCost steps=${EPSILONS} value=${epsilon} onChange=${setEpsilon} format=${(v) => `ε ${amount(v)}`} />
      <div class="btns"><${Button} icon="play" onClick=${ask}>Release a noisy count</${Button}></div>`}
    figures=${curves && html`<${Figures} rows=${[
      ["Before", percent(prior)],
      ["After, at least", percent(curves.at[0], 1)],
      ["After, at most", percent(curves.at[1], 1)],
      ["Likelihood ratio, at most", amount(curves.ratio)],
      last ? [`After the count ${number(last.value)}`, percent(last.belief, 1)] : ["After a noisy count", "–"],
      last && ["In fact", last.is_with_you ? yes : no],
    ]} />`}>
    ${curves && html`<${Fragment}><${Legend} items=${[["fade", "beliefs that an answer can lead to"], seen.length > 0 && ["round", "after the last answer"]]} />
      <${Chart} height=${380} draw=${draw(curves, prior, seen)} label=${`Belief after an answer by belief before. ${percent(prior)} becomes between ${percent(curves.at[0], 1)} and ${percent(curves.at[1], 1)}.`} /></${Fragment}>`}
  </${Panel}>`;
}
