// The dialog that adds an answer to a board.
import { call, get } from "/page/js/api.js";
import { say } from "/page/js/state.js";
import { Button, Dialog, Failure, Loading, Note, useLoaded } from "/page/js/ui.js";
import { html, useState } from "/page/vendor/preact.js";

const NEW = "\u0000new";

/** Choose a board or name a new one; a card is free to look at. */
export function AddToBoard({ id, base, answer, onClose }) {
  const { value, error } = useLoaded(() => get(`${base}/boards`), []);
  const [chosen, setChosen] = useState(null), [fresh, setFresh] = useState("My board"), [failure, setFailure] = useState(null);
  const numbers = answer.columns.filter((each) => each.role !== "key").map((each) => each.name), keys = answer.columns.filter((each) => each.role === "key").map((each) => each.name);
  const [title, setTitle] = useState(`${numbers.slice(0, 2).join(" and ")}${keys.length ? ` by ${keys.join(" and ")}` : ""}`);
  const boards = value?.boards ?? [], board = chosen ?? boards[0]?.name ?? NEW;
  const add = async (event) => {
    event.preventDefault();
    const name = board === NEW ? fresh.trim() : board, cards = boards.find((each) => each.name === name)?.cards ?? [];
    try {
      await call("PUT", `${base}/boards/${encodeURIComponent(name)}`, { cards: [...cards, { answer: id, title: title.trim(), view: "both" }] });
      say(`Added to ${name}. Looking at it is free.`);
      event.target.closest("dialog").close();
    } catch (found) { setFailure(found); }
  };
  return html`<${Dialog} title="Add to board" onClose=${onClose}>
    ${error?.status === 404 ? html`<${Note}>This server has no boards. Copy the link of the answer instead.</${Note}>`
      : error ? html`<${Failure} error=${error} />`
      : !value ? html`<${Loading} />`
      : html`<form class="stack" onSubmit=${add}>
        <label class="field"><span>Title of the card</span><input class="input" required maxlength="200" value=${title} onInput=${(event) => setTitle(event.target.value)} /></label>
        ${boards.length > 0 && html`<label class="field"><span>Board</span><select class="input" value=${board} onChange=${(event) => setChosen(event.target.value)}>
          ${boards.map((each) => html`<option key=${each.name} value=${each.name}>${each.name}</option>`)}<option value=${NEW}>A new board…</option></select></label>`}
        ${board === NEW && html`<label class="field"><span>Name of the board</span><input class="input" required maxlength="100" value=${fresh} onInput=${(event) => setFresh(event.target.value)} /></label>`}
        ${failure && html`<${Failure} error=${failure} />`}
        <div class="btns"><${Button} kind="solid" type="submit">Add</${Button}></div></form>`}</${Dialog}>`;
}
