// Sparse vector: numbers arrive one after the other, and only those above the threshold use budget.
import { amount, count, number } from "/page/js/format.js";
import { Chart, EPSILONS, Figures, isCalm, Knob, Legend, Panel, range, ticks, useComputed } from "/page/js/learn/playground.js";
import { Button } from "/page/js/ui.js";
import { Fragment, html, useEffect, useState } from "/page/vendor/preact.js";

const LEFT = 34, RIGHT = 8, TOP = 12, FOOT = 36, PACE = 60;

function draw(found, threshold, shown) {
  return (width, height) => {
    const n = found.values.length, step = (width - LEFT - RIGHT) / n, most = Math.max(...found.values, threshold) * 1.1;
    const x = (i) => LEFT + i * step, y = (v) => height - FOOT - ((height - FOOT - TOP) * v) / most;
    const low = Math.max(0, threshold - found.margin), high = Math.min(most, threshold + found.margin);
    return html`${ticks(0, most, 4).map((each) => html`<g key=${each}><line class="grid" x1=${LEFT} x2=${width - RIGHT} y1=${y(each)} y2=${y(each)} />
        <text x=${LEFT - 6} y=${y(each) + 4} text-anchor="end">${number(each)}</text></g>`)}
      <rect class="reach" x=${LEFT} width=${width - LEFT - RIGHT} y=${y(high)} height=${y(low) - y(high)} />
      ${found.values.map((value, i) => html`<rect key=${i} class=${i >= shown ? (i < found.above.length ? "later" : "never") : found.above[i] ? "hit" : "past"}
        x=${x(i) + 1} width=${Math.max(1, step - 2)} y=${y(value)} height=${y(0) - y(value)} />`)}
      ${found.above.slice(0, shown).map((isAbove, i) => isAbove && html`<circle key=${i} class="drop last" cx=${x(i) + step / 2} cy=${y(found.values[i]) - 8} r="4" />`)}
      <line class="threshold" x1=${LEFT} x2=${width - RIGHT} y1=${y(threshold)} y2=${y(threshold)} /><line class="axis" x1=${LEFT} x2=${width - RIGHT} y1=${y(0)} y2=${y(0)} />
      ${[1, 12, 24, 36, 48].map((each) => html`<text key=${each} x=${x(each - 1) + step / 2} y=${height - 20} text-anchor="middle">${each}</text>`)}
      <text x=${(LEFT + width - RIGHT) / 2} y=${height - 3} text-anchor="middle">day</text>`;
  };
}

/** The budget of a run: a part for the threshold, and one for each hit. */
function Spent({ found, hits, total, shown }) {
  const used = found.above.slice(0, shown).filter(Boolean).length, width = (part) => ({ width: `${(100 * part) / total}%` });
  const spent = found.threshold_epsilon + used * found.hit_epsilon;
  return html`<div class="purse-of" role="img" aria-label=${`Used ${amount(spent)} of epsilon ${amount(total)}: ${used} of ${hits} hits.`}>
    <i class="start" style=${width(found.threshold_epsilon)}><span>threshold</span></i>
    ${range(1, hits).map((each) => html`<i key=${each} class=${each <= used ? "used" : ""} style=${width(found.hit_epsilon)}><span>hit ${each}</span></i>`)}</div>`;
}

export default function Stream({ id, title, numbers }) {
  const [epsilon, setEpsilon] = useState(2);
  const [threshold, setThreshold] = useState(90);
  const [hits, setHits] = useState(3);
  const [turn, setTurn] = useState(0);
  const [shown, setShown] = useState(0);
  const reply = useComputed("stream", { epsilon, threshold, hits }, turn);
  const found = reply.value;
  useEffect(() => {
    if (!found) return undefined;
    const end = found.above.length;
    if (isCalm()) { setShown(end); return undefined; }
    setShown(0);
    const timer = setInterval(() => setShown((n) => { if (n + 1 >= end) clearInterval(timer); return Math.min(end, n + 1); }), PACE);
    return () => clearInterval(timer);
  }, [found]);
  const used = found?.above.slice(0, shown).filter(Boolean).length;
  const isOver = found && shown >= found.above.length;
  return html`<${Panel} id=${id} title=${title} numbers=${numbers} reply=${reply}
    see="Any number of days may be compared with the threshold. Only a day that is reported above it uses budget, and the run stops after the last hit."
    controls=${html`<${Knob} label="Cost ε of the run" isCost steps=${EPSILONS.filter((each) => each >= 0.1)} value=${epsilon} onChange=${setEpsilon} format=${(v) => `ε ${amount(v)}`} />
      <${Knob} label="Threshold" steps=${range(40, 160, 5)} value=${threshold} onChange=${setThreshold} />
      <${Knob} label="Hits until it stops" steps=${range(1, 8)} value=${hits} onChange=${setHits} />
      <div class="btns"><${Button} icon="play" onClick=${() => setTurn(turn + 1)}>Run again</${Button}></div>`}
    figures=${found && html`<${Figures} rows=${[
      ["Days compared", `${number(shown)} of ${number(found.values.length)}`],
      ["Hits", `${number(used)} of ${number(hits)}`],
      ["Each hit uses", `ε ${amount(found.hit_epsilon)}`],
      ["Wrong only within, 95%", `±${number(found.margin, 0)}`],
      ["Counts of all days instead", `ε ${amount(found.each_epsilon)}`],
      isOver && ["The run", found.above.length < found.values.length ? `stopped on day ${found.above.length}` : "reached the end"],
    ]} />`}>
    ${found && html`<${Fragment}><${Legend} items=${[["gone", "not above"], ["", "reported above"], ["fade", "where noise may decide"], ["line-of", "threshold"]]} />
      <${Chart} height=${340} draw=${draw(found, threshold, shown)} label=${`48 days compared with the threshold ${threshold}: ${count(found.above.filter(Boolean).length, "hit")} in ${count(found.above.length, "day")}.`} />
      <${Spent} found=${found} hits=${hits} total=${epsilon} shown=${shown} /></${Fragment}>`}
  </${Panel}>`;
}
