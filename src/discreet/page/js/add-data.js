// Adding a data set: the owner says who is protected and what is public, and sees what each choice does.
import { get, post } from "/page/js/api.js";
import { ColumnsStep, declaredColumns } from "/page/js/add-data-columns.js";
import { Done } from "/page/js/add-data-done.js";
import { Effects } from "/page/js/add-data-effects.js";
import { BudgetStep, LimitStep, SourceStep, Step, UnitStep, noun } from "/page/js/add-data-steps.js";
import { catalogs } from "/page/js/state.js";
import { Button, Card, Empty, Failure, Link, Loading, useLoaded, useStyles } from "/page/js/ui.js";
import { html, useEffect, useState } from "/page/vendor/preact.js";

const EMPTY = { name: "", file: "", address: "", table: "", columns: null, unit: null, limit: 10, find: false, epsilon: "1", delta: "1e-6" };
const ROW = null;

export default function AddData() {
  const hasStyles = useStyles("add-data");
  const isOwner = catalogs.value.some((each) => each.role === "owner");
  const sources = useLoaded(() => (isOwner ? get("/v1/datasets/sources") : Promise.resolve(null)), [isOwner]);
  if (!isOwner) {
    return html`<div class="page"><div class="head"><div><h1>This view is for data owners</h1>
      <p>Only the owner of a data set can add another.</p></div><${Link} class="btn" to="/">Go to Ask</${Link}></div></div>`;
  }
  if (sources.error) return html`<div class="page"><${Failure} error=${sources.error} actions=${html`<${Button} onClick=${sources.again}>Try again</${Button}>`} /></div>`;
  if (!hasStyles || !sources.value) return html`<div class="page"><${Loading} /></div>`;
  return sources.value.is_on ? html`<${Form} sources=${sources.value} onDone=${sources.again} />` : html`<${Off} />`;
}

function Off() {
  return html`<div class="page"><${Head} /><${Card} id="off" title="Adding data on the page is turned off on this server" kind="done-card"><div class="body stack">
    <p class="soft">The administrator turns it on in the server's settings, for example:</p>
    <pre class="settings mono" tabindex="0">${'# server.toml\nadd_data_from = ["/srv/data", "postgresql://localhost/clinics"]\ncatalog_folder = "/srv/discreet"'}</pre>
    <p class="soft">Then every data owner can add any of these data, and chooses who is protected and how large the budget is.</p>
    <div class="btns"><${Link} class="btn" to="/owner">Back to the owner's room</${Link}></div></div></${Card}></div>`;
}

const Head = () => html`<div class="head"><div><h1>Add data</h1>
  <p>You say who is protected and what is public. Everything you declare here is public: take it from what you know, not from a look at the data.</p></div></div>`;

const sourceOf = (form) => (form.file ? { file: form.file } : { address: form.address, table: form.table.trim() });

/** Load names and types of the columns of the chosen data. */
function useDraft(form, change) {
  const [state, setState] = useState({ isBusy: false, error: null });
  const load = async () => {
    setState({ isBusy: true, error: null });
    change({ columns: null });
    try {
      const found = await post("/v1/datasets/draft", { source: sourceOf(form) });
      const columns = found.columns.map((each) => ({ ...each, low: "", high: "", values: "" }));
      const name = form.name || found.table.toLowerCase().replace(/[^a-z0-9_-]+/g, "-").replace(/^[-_]+|[-_]+$/g, "").slice(0, 64);
      change({ columns, unit: found.unit ?? ROW, guessed: found.guessed_from, name });
      setState({ isBusy: false, error: null });
    } catch (error) { setState({ isBusy: false, error }); }
  };
  useEffect(() => { if (form.file) load(); }, [form.file]);
  return { ...state, load };
}

const NARROW = matchMedia("(max-width: 860px)");

/** Whether the page is narrow: effects then stand below the limit, where they are wanted. */
function useNarrow() {
  const [isNarrow, setNarrow] = useState(NARROW.matches);
  useEffect(() => {
    const changed = () => setNarrow(NARROW.matches);
    NARROW.addEventListener("change", changed);
    return () => NARROW.removeEventListener("change", changed);
  }, []);
  return isNarrow;
}

function Form({ sources, onDone }) {
  const [form, setForm] = useState(EMPTY);
  const [sent, setSent] = useState({ isBusy: false, error: null, added: null });
  const change = (what) => { setForm((before) => ({ ...before, ...what })); setSent({ isBusy: false, error: null, added: null }); };
  const draft = useDraft(form, change);
  const isNarrow = useNarrow();
  const isKnown = form.columns !== null;
  const send = async (event) => {
    event.preventDefault();
    setSent({ isBusy: true, error: null, added: null });
    try {
      const added = await post("/v1/datasets", bodyOf(form));
      setSent({ isBusy: false, error: null, added });
    } catch (error) { setSent({ isBusy: false, error, added: null }); }
  };
  if (sent.added) return html`<${Done} added=${sent.added} unit=${form.unit} onAgain=${() => { setForm(EMPTY); setSent({ isBusy: false, error: null, added: null }); onDone(); }} />`;
  return html`<div class="page"><${Head} /><div class="cols add">
    <form class="steps" onSubmit=${send}>
      <${SourceStep} form=${form} change=${change} sources=${sources} draft=${draft} />
      ${isKnown && html`<${UnitStep} form=${form} change=${change} />
      <${LimitStep} form=${form} change=${change} />
      ${isNarrow && html`<${Effects} form=${form} />`}
      <${ColumnsStep} form=${form} change=${change} />
      <${BudgetStep} form=${form} change=${change} />`}
      <${Step} number=${!isKnown ? 2 : form.unit === ROW ? 5 : 6} id="open" title="Check and open" isOff=${!isKnown}>
        <p>${summary(form)}</p>
        ${sent.error && html`<${Failure} error=${sent.error} />`}
        <div class="btns"><${Button} type="submit" kind="solid big" disabled=${!isKnown || sent.isBusy}>${sent.isBusy ? "Reading the data…" : "Open the data set"}</${Button}></div>
      </${Step}></form>
    ${isKnown ? !isNarrow && html`<${Effects} form=${form} />` : html`<aside class="card effects"><header><h2>What your choices do</h2></header>
      <${Empty} title="Choose the data first">Then you see here what each choice does to noise, before anything is read.</${Empty}></aside>`}
  </div></div>`;
}

function summary(form) {
  if (!form.columns) return "Nothing is read until you open the data set. Only names and types of columns are shown before.";
  const who = form.unit === ROW ? "Each row is protected by itself" : `Each ${noun(form.unit)} is protected, with all of their rows`;
  return `${who}. Once it is open, neither this nor the budget can be changed here. You become its owner, and the token that you have works for it.`;
}

const bodyOf = (form) => ({
  name: form.name.trim(), source: sourceOf(form), unit: form.unit, rows_per_unit: form.limit,
  ...(form.find && form.unit !== ROW ? { find_limit: form.find } : {}),
  columns: declaredColumns(form.columns), epsilon: form.epsilon.trim(), delta: form.delta.trim() || "0",
});
