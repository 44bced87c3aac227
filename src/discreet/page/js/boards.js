// Boards: saved answers side by side. Looking at them is free.
import { call, get } from "/page/js/api.js";
import { BoardCard } from "/page/js/board-card.js";
import { AddDialog, DeleteDialog, NameDialog } from "/page/js/board-dialogs.js";
import { key } from "/page/js/format.js";
import { Icon } from "/page/js/icons.js";
import { base, go, route, say } from "/page/js/state.js";
import { Button, Empty, Failure, Loading, Menu, useLoaded, useStyles } from "/page/js/ui.js";
import { html, useState } from "/page/vendor/preact.js";

const MOST_CARDS = 60;
const addressOf = (name) => `/boards?board=${encodeURIComponent(name)}`;
const pathOf = (name) => `${base.value}/boards/${encodeURIComponent(name)}`;
const TAKEN = { message: "Another board has this name", remedy: "Choose another one" };

/** The boards of the account, and what can be done with them. */
function useBoards() {
  const { value, error, again } = useLoaded(() => get(`${base.value}/boards`), [base.value]);
  const [changed, setChanged] = useState(null);
  const boards = changed ?? value?.boards ?? [];
  const put = async (name, cards) => {
    const saved = await call("PUT", pathOf(name), { cards });
    setChanged((before) => [saved, ...(before ?? boards).filter((each) => each.name !== name)]);
  };
  const check = (name) => { if (boards.some((each) => each.name === name)) throw TAKEN; };
  return {
    boards, error, again, put, isLoaded: Boolean(value),
    make: async (name) => { check(name); await put(name, []); go(addressOf(name)); },
    rename: async (board, name) => {
      check(name);
      await put(name, board.cards);
      await call("DELETE", pathOf(board.name));
      setChanged((before) => before.filter((each) => each.name !== board.name));
      go(addressOf(name), { replace: true });
    },
    remove: async (name) => {
      await call("DELETE", pathOf(name));
      setChanged(boards.filter((each) => each.name !== name));
      go("/boards", { replace: true });
    },
  };
}

/** Focus the button again with which a card was moved: it has a new place. */
const refocus = (place, step) => requestAnimationFrame(() => {
  const card = document.querySelector(`[data-place="${place}"]`);
  (card?.querySelector(`[data-move="${Math.sign(step)}"]:not(:disabled)`) ?? card?.querySelector("[data-move]:not(:disabled)"))?.focus();
});

function Cards({ board, put, isArranging, onAdd }) {
  const { cards } = board;
  const save = async (next) => {
    try { await put(board.name, next); return true; } catch (error) { say(`${error.message}. ${error.remedy}`); return false; }
  };
  const move = async (place, step) => {
    const next = cards.filter((_, i) => i !== place);
    next.splice(place + step, 0, cards[place]);
    if (!await save(next)) return;
    say(`${cards[place].title} is now card ${place + step + 1} of ${cards.length}`);
    refocus(place + step, step);
  };
  const seen = {};
  const keyOf = (id) => { seen[id] = (seen[id] ?? 0) + 1; return `${id} ${seen[id]}`; };
  return html`<div class="board">${cards.map((card, place) => html`<${BoardCard} key=${keyOf(card.answer)} card=${card} place=${place} last=${cards.length - 1}
      isArranging=${isArranging} onMove=${(step) => move(place, step)}
      onChange=${(next) => save(cards.map((each, i) => i === place ? next : each))}
      onRemove=${() => save(cards.filter((_, i) => i !== place))} />`)}
    ${cards.length < MOST_CARDS && html`<button type="button" class="add-card" onClick=${onAdd}><${Icon} name="plus" size="18" />Add a saved answer<span class="muted">free</span></button>`}</div>`;
}

export default function Boards() {
  useStyles("boards");
  const { boards, error, again, put, isLoaded, make, rename, remove } = useBoards();
  const [isArranging, setArranging] = useState(false);
  const [dialog, setDialog] = useState("");
  const close = () => setDialog("");
  const board = boards.find((each) => each.name === route.value.query.get("board")) ?? boards[0];
  if (error && !isLoaded) return html`<div class="page"><h1>Boards</h1><${Failure} error=${error} actions=${html`<${Button} onClick=${again}>Try again</${Button}>`} /></div>`;
  if (!isLoaded) return html`<div class="page"><h1>Boards</h1><${Loading} label="Loading your boards" /></div>`;
  const naming = dialog === "new" && html`<${NameDialog} title="New board" words="Create the board" onName=${make} onClose=${close} />`;
  if (!board) {
    return html`<div class="page boards"><h1>Boards</h1><section class="card"><h2 class="vh">Your boards</h2><${Empty} title="No boards yet"
      actions=${html`<${Button} kind="solid" icon="plus" onClick=${() => setDialog("new")}>Create a board</${Button}>`}>A board shows saved answers side by side. Looking at them is free.</${Empty}></section>${naming}</div>`;
  }
  const sorted = boards.toSorted((a, b) => a.name.localeCompare(b.name));
  return html`<div class="page boards"><div class="head"><div><h1>${key(board.name)}</h1>
      <p>Saved answers: looking at them is free. A card has a copper edge if the data changed since, so that a new answer would cost something.</p></div>
      <div class="btns">
        <${Menu} label="Boards" kind="" button=${html`<${Icon} name="board" /> Boards <${Icon} name="caret" size="14" />`} items=${[
          ...sorted.map((each) => [key(each.name), addressOf(each.name), each.name === board.name ? "shown" : ""]),
          ["New board…", () => setDialog("new"), ""], ["Rename this board…", () => setDialog("rename"), ""], ["Delete this board…", () => setDialog("delete"), ""]]} />
        <${Button} aria-pressed=${isArranging} onClick=${() => setArranging(!isArranging)} disabled=${!board.cards.length}>${isArranging ? "Done" : "Arrange"}</${Button}>
        <${Button} kind="solid" icon="plus" disabled=${board.cards.length >= MOST_CARDS} onClick=${() => setDialog("add")}>Add a card</${Button}></div></div>
    ${board.cards.length ? html`<${Cards} key=${board.name} board=${board} put=${put} isArranging=${isArranging} onAdd=${() => setDialog("add")} />`
      : html`<section class="card"><h2 class="vh">Cards</h2><${Empty} title="No cards yet" actions=${html`<${Button} onClick=${() => setDialog("add")}>Add a saved answer</${Button}>`}>Add answers that were saved. Looking at them is free.</${Empty}></section>`}
    ${naming}
    ${dialog === "rename" && html`<${NameDialog} title="Rename this board" name=${board.name} words="Rename" onName=${(name) => name === board.name ? null : rename(board, name)} onClose=${close} />`}
    ${dialog === "delete" && html`<${DeleteDialog} name=${board.name} onDelete=${() => remove(board.name)} onClose=${close} />`}
    ${dialog === "add" && html`<${AddDialog} cards=${board.cards} onAdd=${(card) => put(board.name, [...board.cards, card])} onClose=${close} />`}</div>`;
}
