// A data set that was added: what was found privately, and what to do next.
import { Curve } from "/page/js/add-data-effects.js";
import { noun } from "/page/js/add-data-steps.js";
import { amount, eps, key } from "/page/js/format.js";
import { Icon } from "/page/js/icons.js";
import { catalogs, choose, go } from "/page/js/state.js";
import { Button, Note } from "/page/js/ui.js";
import { html, useEffect, useRef } from "/page/vendor/preact.js";

const percent = (share) => `${Math.floor(100 * share)}%`;

export function Done({ added, unit, onAgain }) {
  const heading = useRef(null);
  useEffect(() => {
    heading.current?.focus();
    const who = catalogs.value.find((each) => each.role === "owner")?.who ?? "";
    catalogs.value = [...catalogs.value.filter((each) => each.name !== added.name), { name: added.name, role: "owner", who }];
  }, []);
  const use = (address) => () => { choose(added.name); go(address); };
  return html`<div class="page"><div class="head"><div><h1 ref=${heading} tabindex="-1">${key(added.name)} is open</h1>
    <p>You are its owner, and nobody else has access yet. The token that you have works for it.</p></div></div>
    <section class="card done-card"><div class="body stack">
      <p><span class="okay"><${Icon} name="check" /></span> The budget has <b class="num">${eps(added.remaining.epsilon)} of ${amount(added.remaining.total_epsilon)}</b> remaining.
        ${added.rows_per_unit !== null && html` At most <b class="num">${added.rows_per_unit}</b> rows of each ${noun(unit)} count.`}</p>
      ${added.found && html`<${Found} found=${added.found} limit=${added.rows_per_unit} who=${noun(unit)} />`}
      <div class="btns"><${Button} kind="solid" onClick=${use("/")}>Ask about ${key(added.name)}</${Button}>
        <${Button} onClick=${use("/owner")}>Add accounts</${Button}><${Button} kind="ghost" onClick=${onAgain}>Add more data</${Button}></div></div></section></div>`;
}

function Found({ found, limit, who }) {
  const here = found.shares.find((each) => each.rows_per_unit === limit);
  if (!found.is_found || !here) {
    return html`<${Note} kind="price" icon="shuffle"><b>No best limit stood out from the noise.</b> ${eps(found.spent.epsilon)} was spent; the limit that you stated is used.</${Note}>`;
  }
  const points = found.shares.map((each) => [each.rows_per_unit, 100 * each.estimate]);
  return html`<div class="stack found"><${Note} kind="price" icon="shuffle"><b>The best limit is ${limit}.</b> It counts about ${percent(here.estimate)} of rows
      (95% interval: ${percent(here.low)} to ${percent(here.high)}). This was measured privately and cost ${eps(found.spent.epsilon)}, once.</${Note}>
    <div><span class="label">Share of rows that a limit counts, as measured</span>
      <${Curve} points=${points} at=${limit} top=${100} format=${(y) => `${Math.round(y)}%`} words=${`rows of each ${who} that count`}
        label=${`Share of rows counted: ${percent(points[0][1] / 100)} at 1 row, ${percent(here.estimate)} at ${limit} rows`} /></div></div>`;
}
