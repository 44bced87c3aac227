// Starts the page: who is signed in, and which view belongs to the address.
import { Shell, Notice } from "/page/js/shell.js";
import { catalogs, current, readAddress, route, start } from "/page/js/state.js";
import { Empty, Failure, Link, Loading } from "/page/js/ui.js";
import { Fragment, html, render, useEffect, useState } from "/page/vendor/preact.js";

// Views are loaded when they are opened: the first one appears sooner.
const VIEWS = [
  [/^\/$/, "Ask", () => import("/page/js/ask.js")],
  [/^\/answers\/([^/]+)\/([^/]+)$/, "Answer", () => import("/page/js/saved-answer.js")],
  [/^\/data$/, "Data", () => import("/page/js/data.js")],
  [/^\/budget$/, "Budget", () => import("/page/js/budget.js")],
  [/^\/series$/, "Series", () => import("/page/js/series.js")],
  [/^\/boards$/, "Boards", () => import("/page/js/boards.js")],
  [/^\/learn(?:\/([a-z-]+))?$/, "Learn", () => import("/page/js/learn.js")],
  [/^\/owner$/, "Owner", () => import("/page/js/owner.js")],
  [/^\/owner\/add$/, "Add data", () => import("/page/js/add-data.js")],
];

const loaded = new Map();

/** A part of an address as text; one that is not well formed stays as it is. */
const decoded = (part) => { try { return decodeURIComponent(part); } catch { return part; } };

function View() {
  const { path } = route.value;
  const [pattern, title, load] = VIEWS.find(([each]) => each.test(path)) ?? [];
  const [, setTurn] = useState(0);
  const [error, setError] = useState(null);
  useEffect(() => {
    document.title = title ? `${title} · Discreet` : "Discreet";
    setError(null);
    if (!load || loaded.has(load)) return;
    load().then((found) => { loaded.set(load, found.default); setTurn((n) => n + 1); },
      () => setError({ message: "This view could not be loaded", remedy: "Check the connection, and reload the page" }));
  }, [path]);
  if (!pattern) {
    return html`<div class="page"><${Empty} title="There is nothing at this address"
      actions=${html`<${Link} class="btn" to="/">Go to Ask</${Link}>`} /></div>`;
  }
  if (error) return html`<div class="page"><${Failure} error=${error} /></div>`;
  const Found = loaded.get(load);
  const parts = pattern.exec(path).slice(1).map((each) => each && decoded(each));
  return Found ? html`<${Found} key=${current.value.name} parts=${parts} />` : html`<div class="page"><${Loading} /></div>`;
}

function SignedOut() {
  const [Found, setFound] = useState(null);
  useEffect(() => { import("/page/js/sign-in.js").then((found) => setFound(() => found.default)); }, []);
  return html`<${Fragment}>${Found && html`<${Found} />`}<${Notice} /></${Fragment}>`;
}

function App() {
  if (catalogs.value === null) return html`<p class="starting">Discreet</p>`;
  if (!current.value) return html`<${SignedOut} />`;
  return html`<${Shell}><${View} /></${Shell}>`;
}

addEventListener("popstate", readAddress);
document.getElementById("app").replaceChildren();
render(html`<${App} />`, document.getElementById("app"));
start();
