// Randomized response: each dot is a person, and the share of the crowd is estimated.
import { amount, number } from "/page/js/format.js";
import { Chart, EPSILONS, Figures, Knob, Legend, Panel, percent, percentUp, range, ticks, useComputed } from "/page/js/learn/playground.js";
import { Button } from "/page/js/ui.js";
import { Fragment, html, useState } from "/page/vendor/preact.js";

const SIZES = [50, 100, 200, 400, 600, 1000];

/** Places of n dots in a width: as many columns as make a wide rectangle. */
function grid(n, width) {
  const cell = Math.max(9, Math.min(30, Math.sqrt((width * 330) / n)));
  const columns = Math.floor(width / cell);
  return { cell, columns, rows: Math.ceil(n / columns) };
}

function People({ crowd, hasRings, width }) {
  const { cell, columns } = grid(crowd.held.length, width);
  return [...crowd.reported].map((said, i) => {
    const x = (i % columns + 0.5) * cell, y = (Math.floor(i / columns) + 0.5) * cell;
    return html`<g key=${i}><circle class=${said === "1" ? "yes" : "no"} cx=${x} cy=${y} r=${cell * 0.32} />
      ${hasRings && said !== crowd.held[i] && html`<circle class="lied" cx=${x} cy=${y} r=${cell * 0.43} />`}</g>`;
  });
}

/** The estimate with its margin of error, and the true share, on a line from 0% to 100%. */
function estimate(crowd) {
  return (width) => {
    const x = (share) => 8 + (width - 16) * Math.min(1, Math.max(0, share));
    const low = x(crowd.estimate - crowd.margin), high = x(crowd.estimate + crowd.margin);
    const end = x(crowd.truth) > width - 40 ? "end" : x(crowd.truth) < 40 ? "start" : "middle";
    return html`<line class="axis" x1=${x(0)} x2=${x(1)} y1="44" y2="44" />
      ${ticks(0, 1, 4).map((each) => html`<g key=${each}><line class="axis" x1=${x(each)} x2=${x(each)} y1="44" y2="49" />
        <text x=${x(each)} y="64" text-anchor=${each === 0 ? "start" : each === 1 ? "end" : "middle"}>${percent(each)}</text></g>`)}
      <rect class="fade" x=${low} width=${Math.max(1, high - low)} y="38" height="12" rx="2" />
      <path class="whisk" d=${`M${low} 38V50M${high} 38V50M${low} 44H${high}`} />
      <circle class="dot" cx=${x(crowd.estimate)} cy="44" r="5" />
      <path class="truth" d=${`M${x(crowd.truth)} 33l-5 -8h10z`} /><text class="key" x=${x(crowd.truth)} y="18" text-anchor=${end}>exact ${percent(crowd.truth)}</text>`;
  };
}

export default function Crowd({ id, title, numbers }) {
  const [epsilon, setEpsilon] = useState(1.1);
  const [share, setShare] = useState(0.3);
  const [people, setPeople] = useState(200);
  const [hasRings, setRings] = useState(false);
  const [turn, setTurn] = useState(0);
  const reply = useComputed("crowd", { epsilon, share, people }, turn);
  const crowd = reply.value;
  const lies = crowd ? [...crowd.reported].filter((said, i) => said !== crowd.held[i]).length : 0;
  return html`<${Panel} id=${id} title=${title} numbers=${numbers} reply=${reply}
    see="Everybody tosses a coin before they answer, so a single report proves little. The share of the whole crowd can still be estimated."
    controls=${html`<${Knob} label="Cost ε" isCost steps=${EPSILONS} value=${epsilon} onChange=${setEpsilon} format=${(v) => `ε ${amount(v)}`} />
      <${Knob} label="Who would truly say yes" steps=${range(0.01, 0.99, 0.01)} value=${share} onChange=${setShare} format=${(v) => percent(v)} />
      <${Knob} label="People" steps=${SIZES} value=${people} onChange=${setPeople} format=${(v) => number(v)} />
      <label class="check"><input type="checkbox" checked=${hasRings} onChange=${(event) => setRings(event.target.checked)} /> ring those whose coin lied</label>
      <div class="btns"><${Button} icon="shuffle" onClick=${() => setTurn(turn + 1)}>Ask the crowd again</${Button}></div>`}
    figures=${crowd && html`<${Figures} rows=${[
      ["A report is true with", percent(crowd.honest, 1)],
      ["Said yes", percent(crowd.said, 1)],
      ["Estimate", `${percent(crowd.estimate, 1)} ±${number(100 * crowd.margin, 1)}`],
      ["Exact share", percent(crowd.truth, 1)],
      ["50% sure of one person becomes at most", percentUp(crowd.doubt[1])],
      ["Coins that lied", number(lies)],
    ]} />`}>
    ${crowd && html`<${Fragment}><${Legend} items=${[["", "said yes"], ["off", "said no"], hasRings && ["ring", "the coin lied"]]} />
      <${Crowded} crowd=${crowd} hasRings=${hasRings} />
      <${Chart} height=${72} draw=${estimate(crowd)} label=${`Estimate ${percent(crowd.estimate)} plus or minus ${number(100 * crowd.margin, 1)} points, at 95%; the exact share is ${percent(crowd.truth)}.`} /></${Fragment}>`}
  </${Panel}>`;
}

function Crowded({ crowd, hasRings }) {
  const [height, setHeight] = useState(280);
  const draw = (width) => {
    const { cell, rows } = grid(crowd.held.length, width), wanted = Math.ceil(cell * rows) + 2;
    if (wanted !== height) queueMicrotask(() => setHeight(wanted));
    return html`<${People} crowd=${crowd} hasRings=${hasRings} width=${width} />`;
  };
  return html`<${Chart} height=${height} draw=${draw} label=${`${number(crowd.held.length)} people as dots; ${percent(crowd.said)} said yes.`} />`;
}
