// A query on synthetic data: free, and about nobody.
import { post } from "/page/js/api.js";
import { Figure } from "/page/js/board-figures.js";
import { amount } from "/page/js/format.js";
import { base } from "/page/js/state.js";
import { Button, Card, Failure, Link, Note } from "/page/js/ui.js";
import { html, useState } from "/page/vendor/preact.js";

export function Try({ example }) {
  const [sql, setSql] = useState(example);
  const [epsilon, setEpsilon] = useState("1");
  const [state, setState] = useState({});
  const run = async (event) => {
    event?.preventDefault();
    setState({ isBusy: true });
    try {
      setState({ answer: await post(`${base.value}/try`, { sql, epsilon: epsilon.trim() }) });
    } catch (error) { setState({ error }); }
  };
  const keys = (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run(event); };
  const { answer, error, isBusy } = state;
  return html`<${Card} id="try" title="Try a query on synthetic data" actions=${html`<span class="tag synthetic">synthetic</span><span class="small soft">Free. It reads no private data and spends nothing.</span>`}>
    <form class="body stack" onSubmit=${run}>
      <label class="field"><span>Query</span><textarea class="input mono" name="sql" rows="4" spellcheck="false" required maxlength="20000" value=${sql} onInput=${(event) => setSql(event.target.value)} onKeyDown=${keys}></textarea></label>
      <div class="try-line"><label class="field"><span>ε</span><input class="input" name="epsilon" inputmode="decimal" required pattern="[0-9]+([.][0-9]+)?" title="A number such as 0.5" value=${epsilon} onInput=${(event) => setEpsilon(event.target.value)} /></label>
        <${Button} kind="free" type="submit" icon="play" disabled=${isBusy || !sql.trim()}>${isBusy ? "Running…" : "Try it, free"}</${Button}></div>
      <div aria-live="polite" class="stack">
        ${error && html`<${Failure} error=${error} />`}
        ${answer && html`<${Note} icon="info"><b>Not real.</b> These numbers are about synthetic rows. On the real data this query costs at most <span class="priced">ε ${amount(answer.price.epsilon)}</span>. <${Link} to=${`/?q=${encodeURIComponent(answer.question)}&epsilon=${encodeURIComponent(epsilon)}`}>Open it in Ask</${Link}></${Note}>
          <div class="tried hatched"><${Figure} answer=${answer} view="both" title="the synthetic answer" /></div>`}</div>
    </form></${Card}>`;
}
