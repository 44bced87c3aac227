// Dialogs of boards: name one, delete one, add saved answers to one.
import { get } from "/page/js/api.js";
import { brief, key, when } from "/page/js/format.js";
import { base } from "/page/js/state.js";
import { Button, Dialog, Empty, Failure, Link, Loading, useLoaded } from "/page/js/ui.js";
import { html, useState } from "/page/vendor/preact.js";

const shut = (event) => event.target.closest("dialog").close();

/** Ask for a name that no other board has. `onName` may reject it. */
export function NameDialog({ title, name = "", words, onName, onClose }) {
  const [text, setText] = useState(name);
  const [error, setError] = useState(null);
  const send = async (event) => {
    event.preventDefault();
    setError(null);
    try { await onName(text.trim()); shut(event); } catch (found) { setError(found); }
  };
  return html`<${Dialog} title=${title} onClose=${onClose}><form class="stack" onSubmit=${send}>
    <label class="field"><span>Name</span><input class="input" name="name" required maxlength="100" value=${text} placeholder="Clinics at a glance" onInput=${(event) => setText(event.target.value)} /></label>
    ${error && html`<${Failure} error=${error} />`}
    <div class="btns"><${Button} kind="solid" type="submit" disabled=${!text.trim()}>${words}</${Button}></div></form></${Dialog}>`;
}

export function DeleteDialog({ name, onDelete, onClose }) {
  const [error, setError] = useState(null);
  const send = async (event) => {
    try { await onDelete(); shut(event); } catch (found) { setError(found); }
  };
  return html`<${Dialog} title="Delete this board?" onClose=${onClose}><div class="stack">
    <p>The board <b>${key(name)}</b> is removed. Its answers stay saved, and nothing is charged.</p>
    ${error && html`<${Failure} error=${error} />`}
    <div class="btns"><${Button} onClick=${shut}>Cancel</${Button}><${Button} kind="danger" onClick=${send}>Delete the board</${Button}></div></div></${Dialog}>`;
}

/** A title from the columns of an answer: "visits by region". */
function titleOf(answer) {
  const named = (isKey) => answer.columns.filter((each) => (each.role === "key") === isKey).map((each) => each.name).join(" and ");
  return [named(false), named(true)].filter(Boolean).join(" by ").slice(0, 200) || "Answer";
}

/** List saved answers that may be read, and add those that are chosen. */
export function AddDialog({ cards, onAdd, onClose }) {
  const [sought, setSought] = useState("");
  const [error, setError] = useState(null);
  const [added, setAdded] = useState(new Set(cards.map((each) => each.answer)));
  const { value, error: failed } = useLoaded(() => get(`${base.value}/answers?limit=1000`), []);
  const found = (value?.answers ?? []).filter((each) => `${each.question} ${each.account ?? ""}`.toLowerCase().includes(sought.toLowerCase())).slice(0, 100);
  const add = async (id) => {
    setError(null);
    try {
      await onAdd({ answer: id, title: titleOf(await get(`${base.value}/answers/${id}`)), view: "both" });
      setAdded(new Set([...added, id]));
    } catch (problem) { setError(problem); }
  };
  const body = () => {
    if (failed) return html`<${Failure} error=${failed} />`;
    if (!value) return html`<${Loading} />`;
    if (!value.answers.length) return html`<${Empty} title="No saved answers yet" actions=${html`<${Link} class="btn" to="/">Go to Ask</${Link}>`}>Answers are saved when a query has run.</${Empty}>`;
    return html`<label class="field"><span>Search</span><input class="input" type="search" value=${sought} onInput=${(event) => setSought(event.target.value)} /></label>
      <ul class="pick-answers">${found.map((each) => html`<li key=${each.id}><div><code>${brief(each.question)}</code>
        <p class="tiny muted">${each.account && `${key(each.account)}, `}${when(each.written)}${each.terms.epsilon ? `, ε ${each.terms.epsilon}` : ""}</p></div>
        ${added.has(each.id) ? html`<span class="tag ok">on the board</span>` : html`<${Button} onClick=${() => add(each.id)} aria-label=${`Add ${brief(each.question)}`}>Add</${Button}>`}</li>`)}</ul>
      ${!found.length && html`<p class="small muted">No saved answer has these words.</p>`}`;
  };
  return html`<${Dialog} title="Add saved answers" onClose=${onClose}><div class="stack">
    ${error && html`<${Failure} error=${error} />`}${body()}
    <div class="btns"><${Button} kind="solid" onClick=${shut}>Done</${Button}></div></div></${Dialog}>`;
}
