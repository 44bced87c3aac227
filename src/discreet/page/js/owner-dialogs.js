// Dialogs of the owner's room: confirm what cannot be undone, show a token once.
import { Button, Dialog, Failure, Note, copied } from "/page/js/ui.js";
import { html, useState } from "/page/vendor/preact.js";

/** Run something that may fail: [isBusy, error, run]. */
export function useDoing() {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState(null);
  const run = async (act) => {
    setBusy(true);
    setError(null);
    try { await act(); } catch (found) { setError(found); } finally { setBusy(false); }
  };
  return [isBusy, error, run];
}

/** Close the dialog around an element: the focus then goes back to where it was. */
const closeAround = (element) => element.closest("dialog")?.close();

/** A dialog with a form: `send` does it, and the dialog closes when it is done. */
export function FormDialog({ title, words, stay = "Cancel", send, onClose, danger = false, children }) {
  const [isBusy, error, run] = useDoing();
  const submit = (event) => {
    event.preventDefault();
    const form = event.currentTarget;
    run(async () => { await send(); closeAround(form); });
  };
  return html`<${Dialog} title=${title} onClose=${onClose}><form class="stack tight-stack" onSubmit=${submit}>
    ${children}
    ${error && html`<${Failure} error=${error} />`}
    <div class="btns end"><${Button} onClick=${(event) => closeAround(event.currentTarget)}>${stay}</${Button}>
      <${Button} type="submit" kind=${danger ? "danger" : "solid"} disabled=${isBusy}>${words}</${Button}></div></form></${Dialog}>`;
}

/** A new token: it is shown once. */
export function TokenDialog({ name, token, onClose }) {
  const [words, setWords] = useState("Copy");
  const copy = async () => setWords(await copied(token) ? "Copied" : "Select it and copy");
  return html`<${Dialog} title=${`Token of ${name}`} onClose=${onClose}><div class="stack tight-stack">
    <p>Give this token to ${name} in a safe way. It is shown once: the server keeps only its hash.</p>
    <output class="token mono" aria-label="Token">${token}</output>
    <${Note} kind="price">Anyone who has it can act as ${name}. Make a new one if it gets lost: the old one then ends.</${Note}>
    <div class="btns end"><${Button} icon="copy" onClick=${copy}>${words}</${Button}>
      <${Button} kind="solid" onClick=${(event) => closeAround(event.currentTarget)}>Done</${Button}></div></div></${Dialog}>`;
}
