// Noisy max: which of some candidates is named, and how likely each is.
import { amount, number } from "/page/js/format.js";
import { Chart, compute, EPSILONS, Figures, Knob, Legend, Panel, percent, range, useComputed } from "/page/js/learn/playground.js";
import { Button } from "/page/js/ui.js";
import { Fragment, html, useEffect, useState } from "/page/vendor/preact.js";

const NAMES = ["Ash", "Birch", "Cedar", "Elm", "Fir"];
const REST = [38, 30, 22, 9];
const ROW = 66, NAME = 58, COUNT = 44;

function draw(found, scores, wins) {
  return (width) => {
    const most = Math.max(...scores), total = wins.reduce((sum, each) => sum + each, 0);
    const from = NAME + COUNT, x = (p) => from + (width - from - 54) * p;
    return html`${scores.map((score, i) => {
      const y = i * ROW + 8, p = found.probabilities[i];
      return html`<g key=${i}><text class="key" x="0" y=${y + 17}>${NAMES[i]}</text><text x=${from - 12} y=${y + 17} text-anchor="end">${number(score)}</text>
        <rect class="revenue" x=${from} width=${Math.max(1, x(score / most) - from)} y=${y + 28} height="5" rx="2" />
        <rect class="track" x=${from} width=${x(1) - from} y=${y} height="24" rx="3" />
        <rect class="solid" x=${from} width=${Math.max(1, x(p) - from)} y=${y} height="24" rx="3" />
        <path class="whisk bold" d=${`M${x(found.exponential[i])} ${y - 2}v28`} />
        ${total > 0 && html`<circle class="dot ringed" cx=${x(wins[i] / total)} cy=${y + 12} r="5" />`}
        <text class="val" x=${width} y=${y + 17} text-anchor="end">${percent(p, p < 0.0995 ? 1 : 0)}</text></g>`;
    })}`;
  };
}

export default function NoisyMax({ id, title, numbers }) {
  const [epsilon, setEpsilon] = useState(0.5);
  const [first, setFirst] = useState(41);
  const [wins, setWins] = useState([0, 0, 0, 0, 0]);
  const [last, setLast] = useState(null);
  const [error, setError] = useState(null);
  const scores = [first, ...REST], body = { epsilon, scores };
  const reply = useComputed("noisy-max", body);
  useEffect(() => { setWins([0, 0, 0, 0, 0]); setLast(null); }, [epsilon, first]);
  const name = async (draws) => {
    try {
      const { chosen } = await compute("noisy-max", { ...body, draws });
      setWins((before) => before.map((each, i) => each + chosen.filter((one) => one === i).length));
      setLast(chosen.at(-1));
      setError(null);
    } catch (caught) { setError(caught); }
  };
  const found = reply.value, total = wins.reduce((sum, each) => sum + each, 0);
  return html`<${Panel} id=${id} title=${title} numbers=${numbers} reply=${{ ...reply, error: reply.error ?? error }}
    see="Noise is added to every count, and only the name of the largest is released. A clear winner nearly always wins; near ties are left to the noise."
    controls=${html`<${Knob} label="Cost ε" isCost steps=${EPSILONS} value=${epsilon} onChange=${setEpsilon} format=${(v) => `ε ${amount(v)}`} />
      <${Knob} label=${`Votes for ${NAMES[0]}`} steps=${range(30, 70)} value=${first} onChange=${setFirst} />
      <div class="btns"><${Button} onClick=${() => name(1)}>Name one</${Button}><${Button} onClick=${() => name(100)}>Name 100</${Button}></div>`}
    figures=${found && html`<${Figures} rows=${[
      ["The largest is named", percent(found.best, 1)],
      ["Falls short on average by", number(found.shortfall, 2)],
      ["Falls short by at most, 95%", number(found.margin, 1)],
      ["Scale of the noise", number(found.scale, 1)],
      last !== null && ["The last one named", NAMES[last]],
      total > 0 && ["Named so far", `${number(total)} times`],
    ]} />`}>
    ${found && html`<${Fragment}><${Legend} items=${[["", "probability to be named"], ["tick", "by the exponential mechanism"], ["off", "votes"], total > 0 && ["round", "share of the names so far"]]} />
      <${Chart} height=${ROW * 5} draw=${draw(found, scores, wins)} label=${`Probabilities to be named: ${scores.map((_, i) => `${NAMES[i]} ${percent(found.probabilities[i], 1)}`).join(", ")}.`} /></${Fragment}>`}
  </${Panel}>`;
}
