// Learn: a list of playgrounds, and the one that is open.
import { get } from "/page/js/api.js";
import { go } from "/page/js/state.js";
import { Empty, Failure, Link, Loading, useLoaded, useStyles } from "/page/js/ui.js";
import { html, useEffect, useState } from "/page/vendor/preact.js";

// Playgrounds are loaded when they are opened: [address, name, module].
const GROUPS = [
  ["One answer", [
    ["neighbours", "Two neighbours", () => import("/page/js/learn/neighbours.js")],
    ["error", "Error against ε", () => import("/page/js/learn/error.js")],
    ["belief", "Belief before and after", () => import("/page/js/learn/belief.js")],
    ["crowd", "Randomized response", () => import("/page/js/learn/crowd.js")],
  ]],
  ["One choice", [
    ["auction", "The auction", () => import("/page/js/learn/auction.js")],
    ["noisy-max", "Noisy max", () => import("/page/js/learn/noisy-max.js")],
  ]],
  ["Many answers", [
    ["stream", "Sparse vector", () => import("/page/js/learn/stream.js")],
    ["composition", "Composition", () => import("/page/js/learn/composition.js")],
  ]],
  ["Attacks", [
    ["averaging", "Averaging", () => import("/page/js/learn/attack.js")],
    ["differencing", "Differencing", () => import("/page/js/learn/attack.js")],
    ["reconstruction", "Reconstruction", () => import("/page/js/learn/attack.js")],
  ]],
];
const ALL = GROUPS.flatMap(([, some]) => some);

function Side({ open }) {
  return html`<nav class="side" aria-label="Playgrounds">${GROUPS.map(([group, some]) => html`
    <div key=${group} role="group" aria-label=${group}><span class="label" aria-hidden="true">${group}</span>
      ${some.map(([id, name]) => html`<${Link} key=${id} to=${`/learn/${id}`} aria-current=${id === open ? "page" : undefined}>${name}</${Link}>`)}</div>`)}</nav>`;
}

function Select({ open }) {
  return html`<label class="field pick"><span>Playground</span>
    <select class="input" value=${open} onChange=${(event) => go(`/learn/${event.target.value}`)}>
      ${GROUPS.map(([group, some]) => html`<optgroup key=${group} label=${group}>
        ${some.map(([id, name]) => html`<option key=${id} value=${id}>${name}</option>`)}</optgroup>`)}</select></label>`;
}

function Playground({ entry: [id, name, load], numbers }) {
  const [Found, setFound] = useState(null);
  const [error, setError] = useState(null);
  useEffect(() => {
    let isWanted = true;
    document.title = `${name} · Discreet`;
    load().then((found) => isWanted && setFound(() => found.default),
      () => isWanted && setError({ message: "This playground could not be loaded", remedy: "Check the connection, and reload the page" }));
    return () => { isWanted = false; };
  }, []);
  if (error) return html`<${Failure} error=${error} />`;
  return Found ? html`<${Found} id=${id} title=${name} numbers=${numbers} />` : html`<div class="card"><${Loading} rows=${8} /></div>`;
}

export default function Learn({ parts }) {
  const isStyled = useStyles("learn");
  const { value } = useLoaded(() => get("/v1/learn/course"), []);
  const open = parts[0] ?? "neighbours";
  const entry = ALL.find(([id]) => id === open);
  const numbers = (value?.numbers ?? []).filter((each) => each.playground === open);
  if (!isStyled) return html`<div class="page"><${Loading} /></div>`;
  return html`<div class="page"><div class="learn-page"><div class="head learn-head"><div><h1>Learn</h1>
      <p>Move a slider and see what happens. All people here are synthetic, and nothing is spent.</p></div></div>
    <div class="learn"><${Side} open=${open} /><${Select} open=${open} />
      ${entry ? html`<${Playground} key=${open} entry=${entry} numbers=${numbers} />`
        : html`<div class="card"><${Empty} title="There is no such playground"
          actions=${html`<${Link} class="btn" to="/learn">Go to the first one</${Link}>`} /></div>`}</div></div></div>`;
}
