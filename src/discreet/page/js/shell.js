// The frame around every view: the bar, the views, the keyboard, short notices.
import { amount } from "/page/js/format.js";
import { Icon, Mark } from "/page/js/icons.js";
import { budget, catalogs, choose, current, go, isOwner, mayAsk, months, notice, route, signOut, waiting } from "/page/js/state.js";
import { Dialog, Link, Menu, Meter } from "/page/js/ui.js";
import { Fragment, html, useEffect, useState } from "/page/vendor/preact.js";

export const VIEWS = [
  ["/", "Ask", "ask", "a"],
  ["/data", "Data", "data", "d"],
  ["/budget", "Budget", "budget", "b"],
  ["/series", "Series", "series", "s"],
  ["/boards", "Boards", "board", "o"],
  ["/learn", "Learn", "learn", "l"],
  ["/owner", "Owner", "owner", "w"],
];
const shown = () => VIEWS.filter(([path]) => (path !== "/owner" || isOwner.value) && (path !== "/budget" || mayAsk.value));

const isMac = /Mac|iPhone|iPad/.test(navigator.platform ?? "");
export const MOD = isMac ? "⌘" : "Ctrl";

const KEYS = [
  ["Run the query", `${MOD} Enter`], ["Complete a name", "Ctrl Space"],
  ["Go to what is wrong, then apply its fix", "F8, then Enter"], ["Spend a little more, less", "Alt ↑, Alt ↓"],
  ["Table, chart or both", "Alt V"], ["History", `${MOD} H`], ["Save the query", `${MOD} S`],
  ["Leave the editor", "Esc"], ["Ask, Data, Budget, Series, Boards, Learn, Owner", "g, then a d b s o l w"], ["These keys", "?"],
];

function otherTheme() {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  localStorage.setItem("discreet-theme", next);
}

/** The bar at the top. */
function Bar({ onKeys }) {
  const here = current.value, left = budget.value;
  const path = route.value.path;
  const initials = (here?.who ?? "").slice(0, 2).toUpperCase();
  return html`<header class="top">
    <${Link} class="brand" to="/" aria-label="Discreet, start"><${Mark} /><span>Discreet</span></${Link}>
    <span class="slash wide" aria-hidden="true">/</span>
    <${Menu} side="left" label=${`Catalog ${here.name}`} button=${html`<${Icon} name="data" /> ${here.name} <${Icon} name="caret" size="14" />`}
      items=${[...catalogs.value.map((each) => [each.name, () => choose(each.name), each.role]), isOwner.value && ["Add data…", "/owner/add", ""]]} />
    <nav class="nav" aria-label="Views">${shown().map(([to, words, sign]) => html`
      <${Link} key=${to} to=${to} aria-current=${to === path || (to !== "/" && path.startsWith(`${to}/`)) ? "page" : undefined}>
        <${Icon} name=${sign} size="18" />${words}${to === "/owner" && waiting.value > 0 && html`
        <span class="badge" aria-label=${`${waiting.value} requests wait`}>${waiting.value}</span>`}</${Link}>`)}</nav>
    <span class="grow" />
    ${left && html`<${Link} class="purse" to="/budget">
      <${Meter} spent=${left.total_epsilon - left.epsilon} total=${left.total_epsilon} /><span><b class="num">ε ${amount(left.epsilon)}</b> remaining${months.value && html`<span class="least">, least of any month</span>`}</span></${Link}>`}
    <button type="button" class="btn ghost icon wide" aria-label="Keyboard" onClick=${onKeys}><${Icon} name="help" size="18" /></button>
    <button type="button" class="btn ghost icon" aria-label="Light or dark" onClick=${otherTheme}><${Icon} name="moon" /></button>
    <${Menu} kind="avatar" button=${html`<span aria-hidden="true">${initials}</span><span class="vh">Account ${here.who}, ${here.role}</span>`}
      items=${[[`${here.who}`, mayAsk.value ? "/budget" : "/", here.role], ["Sign out", signOut, ""]]} />
  </header>`;
}

function Keys({ onClose }) {
  const drawn = (keys) => keys.split(" ").map((each) => (each === "then" ? " then " : html`<kbd>${each.replace(",", "")}</kbd>${each.endsWith(",") ? ", " : " "}`));
  return html`<${Dialog} title="Keyboard" onClose=${onClose}><div class="keys">
    ${KEYS.map(([what, keys]) => html`<${Fragment} key=${what}><span>${what}</span><span>${drawn(keys)}</span></${Fragment}>`)}</div></${Dialog}>`;
}

const isTyping = (event) => {
  const target = event.composedPath()[0];
  return target instanceof HTMLElement && (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.isContentEditable);
};

export function Shell({ children }) {
  const [hasKeys, setKeys] = useState(false);
  useEffect(() => {
    let last = "";
    const pressed = (event) => {
      if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "?") setKeys(true);
      const to = last === "g" && shown().find(([, , , letter]) => letter === event.key);
      if (to) { go(to[0]); document.getElementById("main").focus(); }
      last = event.key;
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
  return html`<${Fragment}>
    <a class="skip" href="#main">Skip to the content</a>
    <${Bar} onKeys=${() => setKeys(true)} />
    <main id="main" tabindex="-1">${children}</main>
    <${Notice} />
    ${hasKeys && html`<${Keys} onClose=${() => setKeys(false)} />`}</${Fragment}>`;
}

/** The short notice at the bottom; screen readers speak it. */
export function Notice() {
  return html`<div class=${`toast ${notice.value ? "on" : ""}`} role="status" aria-live="polite">${notice.value}</div>`;
}
