// Small parts that several views share.
import { Icon } from "/page/js/icons.js";
import { amount } from "/page/js/format.js";
import { go } from "/page/js/state.js";
import { html, useEffect, useRef, useState } from "/page/vendor/preact.js";

/** A link inside the page; other windows and downloads work as usual. */
export function Link({ to, children, ...more }) {
  const follow = (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
    event.preventDefault();
    go(to);
  };
  return html`<a href=${to} onClick=${follow} ...${more}>${children}</a>`;
}

export function Button({ icon, children, kind = "", ...more }) {
  return html`<button type="button" class=${`btn ${kind}`} ...${more}>
    ${icon && html`<${Icon} name=${icon} />`}${children}</button>`;
}

/** A choice of one among few: buttons that stay pressed. */
export function Choice({ label, options, value, onChange }) {
  return html`<div class="seg" role="group" aria-label=${label}>${options.map(([each, words]) => html`
    <button type="button" key=${each} aria-pressed=${each === value} onClick=${() => onChange(each)}>${words}</button>`)}</div>`;
}

/** A card with a heading. `id` ties the heading to the section for screen readers. */
export function Card({ id, title, actions, footer, children, kind = "" }) {
  return html`<section class=${`card ${kind}`} aria-labelledby=${`${id}-title`}>
    <header><h2 id=${`${id}-title`} tabindex="-1">${title}</h2>${actions}</header>
    ${children}${footer && html`<footer>${footer}</footer>`}</section>`;
}

/** One sentence that needs attention. kind: "", "price", "answer", "refuse", "ok". */
export function Note({ kind = "", icon = "info", children, actions, ...more }) {
  return html`<div class=${`note ${kind}`} ...${more}><${Icon} name=${icon} /><div>${children}</div>${actions && html`<div class="btns">${actions}</div>`}</div>`;
}

/** What is shown where there is nothing yet. */
export function Empty({ title, children, actions }) {
  return html`<div class="empty"><h3>${title}</h3>${children && html`<p>${children}</p>`}${actions && html`<div class="btns">${actions}</div>`}</div>`;
}

/** Grey bars in place of what is being loaded. */
export function Loading({ rows = 3, label = "Loading" }) {
  return html`<div class="loading" role="status"><span class="vh">${label}</span>
    ${Array.from({ length: rows }, (_, i) => html`<i key=${i} />`)}</div>`;
}

/** A line about what is left out. In place of the commands that measure it, a link does. */
export function Line({ text }) {
  const parts = text.split(" · "), table = /curator\.coverage\("([^"]+)"\)/.exec(text)?.[1];
  if (!table) return text;
  const told = parts.filter((each) => !each.includes("curator.coverage(")).join(" · ");
  return html`${told}. <${Link} to=${`/data?table=${encodeURIComponent(table)}`}>See how many</${Link}>`;
}

/** An error of a call, with what to do. */
export function Failure({ error, actions }) {
  return html`<${Note} kind="refuse" icon="stop" role="alert" actions=${actions}>
    <b>${error.message}.</b> ${error.remedy && `${error.remedy.replace(/\.$/, "")}.`}</${Note}>`;
}

/** How much of a budget is spent, and what a query would add. */
export function Meter({ spent, next = 0, total, tall = false, label }) {
  const share = (value) => ({ width: `${100 * Math.min(1, Math.max(0, value / total))}%` });
  const words = label ?? `Spent ε = ${amount(spent)} of ${amount(total)}`;
  return html`<span class=${`meter ${tall ? "tall" : ""}`} role="img" aria-label=${words}>
    <i class="gone" style=${share(spent)} />${next > 0 && html`<i class="next" style=${share(Math.min(next, total - spent))} />`}</span>`;
}

/** A slider over a list of steps, with a typed number beside it. `format` gives the spoken words. */
export function Slider({ label, steps, value, onChange, format = String, cannotFrom, learned = false, ticks = [], id }) {
  const nearest = (wanted) => steps.reduce((best, each, i) =>
    Math.abs(Math.log(each / wanted)) < Math.abs(Math.log(steps[best] / wanted)) ? i : best, 0);
  const at = (wanted) => `${100 * nearest(wanted) / (steps.length - 1)}%`;
  return html`<div class=${`slider ${learned ? "learned" : ""}`}>
    <div class="track"><div class="fill" style=${{ width: at(value) }} />
      ${cannotFrom !== undefined && html`<div class="cannot" style=${{ left: at(cannotFrom) }} />`}</div>
    <input type="range" id=${id} min="0" max=${steps.length - 1} step="1" value=${nearest(value)} aria-label=${label}
      aria-valuetext=${format(value)} onInput=${(event) => onChange(steps[Number(event.target.value)])} />
    ${ticks.length > 0 && html`<div class="ticks" aria-hidden="true">${ticks.map((each) => html`
      <span key=${each} style=${{ left: at(each) }}>${amount(each)}</span>`)}</div>`}</div>`;
}

/** A menu below a button. Items: [words, act or address, aside]. */
export function Menu({ label, button, items, kind = "ghost", side = "" }) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef(null);
  useEffect(() => {
    if (!isOpen) return undefined;
    const close = (event) => { if (!box.current?.contains(event.target)) setOpen(false); };
    const escape = (event) => { if (event.key === "Escape") { setOpen(false); box.current?.querySelector("button")?.focus(); } };
    addEventListener("click", close, true);
    addEventListener("keydown", escape);
    box.current?.querySelector(":scope > div a, :scope > div button")?.focus();
    return () => { removeEventListener("click", close, true); removeEventListener("keydown", escape); };
  }, [isOpen]);
  const done = (act) => () => { setOpen(false); box.current?.querySelector("button")?.focus(); act(); };
  const move = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const all = [...event.currentTarget.querySelectorAll("a, button")];
    all[(all.indexOf(document.activeElement) + step + all.length) % all.length]?.focus();
  };
  return html`<div class=${`menu ${side}`} ref=${box}>
    <button type="button" class=${kind === "avatar" ? "avatar" : `btn ${kind}`} aria-haspopup="true" aria-expanded=${isOpen} aria-label=${label}
      onClick=${() => setOpen(!isOpen)}>${button}</button>
    ${isOpen && html`<div onKeyDown=${move}>${items.filter(Boolean).map(([words, act, aside]) => typeof act === "string"
      ? act.startsWith("/v1/")
        ? html`<a key=${words} href=${act} download onClick=${() => setOpen(false)}>${words}<span class="muted">${aside}</span></a>`
        : html`<a key=${words} href=${act} onClick=${(event) => { event.preventDefault(); setOpen(false); go(act); }}>${words}<span class="muted">${aside}</span></a>`
      : html`<button type="button" key=${words} onClick=${done(act)}>${words}<span class="muted">${aside}</span></button>`)}</div>`}</div>`;
}

/** A dialog over the page. */
export function Dialog({ title, onClose, children }) {
  const box = useRef(null);
  useEffect(() => {
    if (!box.current.open) box.current.showModal();
    box.current.querySelector("form input, form textarea")?.focus();
  }, []);
  return html`<dialog ref=${box} aria-labelledby="dialog-title" onClose=${onClose}>
    <header><h2 id="dialog-title">${title}</h2>
      <button type="button" class="btn ghost icon" aria-label="Close" onClick=${() => box.current.close()}><${Icon} name="x" /></button></header>
    <div class="body">${children}</div></dialog>`;
}

/** Load something once, and again when `keys` change: {value, error, again}. */
export function useLoaded(load, keys) {
  const [state, setState] = useState({ value: null, error: null });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let isWanted = true;
    load().then((value) => isWanted && setState({ value, error: null }),
      (error) => isWanted && setState((before) => ({ value: before.value, error })));
    return () => { isWanted = false; };
  }, [...keys, turn]);
  return { ...state, again: () => setTurn((n) => n + 1) };
}

/** Load a style sheet of a view once. */
export function useStyles(name) {
  const [isThere, setThere] = useState(Boolean(document.getElementById(`css-${name}`)?.sheet));
  useEffect(() => {
    let sheet = document.getElementById(`css-${name}`);
    if (!sheet) {
      sheet = Object.assign(document.createElement("link"), { id: `css-${name}`, rel: "stylesheet", href: `/page/css/${name}.css` });
      document.head.append(sheet);
    }
    if (sheet.sheet) setThere(true);
    else sheet.addEventListener("load", () => setThere(true), { once: true });
  }, []);
  return isThere;
}

/** Copy a text; return whether the browser allowed it. */
export async function copied(text) {
  try { await navigator.clipboard.writeText(text); return true; } catch { return false; }
}
