// A saved answer at its permanent address: the numbers, the chart, and the query that made them.
import { get } from "/page/js/api.js";
import { AnswerCard } from "/page/js/answer.js";
import { current, mayAsk } from "/page/js/state.js";
import { Empty, Failure, Link, Loading, useLoaded, useStyles } from "/page/js/ui.js";
import { html, useEffect, useState } from "/page/vendor/preact.js";

export default function View({ parts: [catalog, id] }) {
  const isStyled = useStyles("ask"), base = `/v1/catalogs/${encodeURIComponent(catalog)}`;
  const { value: answer, error } = useLoaded(() => get(`${base}/answers/${encodeURIComponent(id)}`), [catalog, id]);
  const [view, setView] = useState("both");
  useEffect(() => {
    const pressed = (event) => {
      if (!event.altKey || event.code !== "KeyV") return;
      event.preventDefault();
      setView((before) => ({ both: "table", table: "chart", chart: "both" })[before]);
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
  if (error?.status === 404) {
    return html`<div class="page"><${Empty} title="There is no answer here that you may see"
      actions=${html`<${Link} class="btn" to="/">Go to Ask</${Link}>`}>Analysts see their own answers. Owners and readers see all of a catalog.</${Empty}></div>`;
  }
  if (error) return html`<div class="page"><${Failure} error=${error} /></div>`;
  if (!answer || !isStyled) return html`<div class="page"><${Loading} rows="5" label="Loading the answer" /></div>`;
  const address = `/?q=${encodeURIComponent(answer.question)}${answer.price.epsilon > 0 ? `&epsilon=${answer.price.epsilon}` : ""}${catalog === current.value.name ? "" : `&catalog=${encodeURIComponent(catalog)}`}`;
  return html`<div class="page saved-answer stack">
    <div class="head"><div><h1>Saved answer</h1><p>From the catalog ${catalog}. Looking at it costs nothing, and its numbers do not change.</p></div>
      ${mayAsk.value && html`<${Link} class="btn" to=${address}>Open in the editor</${Link}>`}</div>
    <section class="card" aria-label="Query"><pre class="sql" tabindex="0" aria-label="Query in SQL">${answer.question}</pre></section>
    <${AnswerCard} id=${id} base=${base} catalog=${catalog} answer=${answer} terms=${{ epsilon: answer.price.epsilon || 0.1 }} view=${view} setView=${setView} isSaved=${true} /></div>`;
}
