// The dialog in which an analyst requests more budget, or approval of a query.
import { post } from "/page/js/api.js";
import { rounded } from "/page/js/ask-store.js";
import { amount } from "/page/js/format.js";
import { base, budget, months, say } from "/page/js/state.js";
import { Button, Dialog, Failure } from "/page/js/ui.js";
import { html, useState } from "/page/vendor/preact.js";

/** Request a higher cap, or approval of `query`. */
export function RequestDialog({ query, onClose }) {
  const has = budget.value?.total_epsilon ?? 1;
  const [reason, setReason] = useState(""), [cap, setCap] = useState(String(rounded(has * 1.5)));
  const [error, setError] = useState(null), [isBusy, setBusy] = useState(false);
  const send = async (event) => {
    event.preventDefault();
    setBusy(true);
    try {
      await post(`${base.value}/requests`, query ? { reason, query } : { reason, epsilon: cap });
      say("Sent. The decision appears under Budget.");
      event.target.closest("dialog").close();
    } catch (found) { setError(found); setBusy(false); }
  };
  return html`<${Dialog} title=${query ? "Request approval" : "Request more budget"} onClose=${onClose}>
    <form class="stack" onSubmit=${send}>
      <p class="small soft">${query ? "The data owner sees this query, its cost and your reason." : `You may spend ε ${amount(has)} ${months.value ? "for each month" : "in total"} now. The data owner sees your reason and decides.`}</p>
      ${!query && html`<label class="field"><span>New cap, ε ${months.value ? "for each month" : "in total"}</span><input class="input num" inputmode="decimal" required pattern="[0-9]+([.][0-9]+)?" value=${cap} onInput=${(event) => setCap(event.target.value)} /></label>`}
      <label class="field"><span>Reason</span><textarea class="input" rows="3" required maxlength="1000" value=${reason} onInput=${(event) => setReason(event.target.value)} /></label>
      ${error && html`<${Failure} error=${error} />`}
      <div class="btns"><${Button} kind="solid" type="submit" disabled=${isBusy || !reason.trim()}>Send the request</${Button}></div></form></${Dialog}>`;
}
