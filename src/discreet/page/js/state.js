// What all views share: who is signed in, the catalog, its tables, the budget, the address.
import { get, post, call, useSession } from "/page/js/api.js";
import { computed, signal } from "/page/vendor/preact.js";

export const route = signal({ path: location.pathname, query: new URLSearchParams(location.search) });
export const catalogs = signal(null);   // null: not known yet; []: signed out
export const chosen = signal(localStorage.getItem("discreet-catalog") ?? "");
export const schema = signal(null);
export const budget = signal(null);
export const months = signal(null);     // what remains for each month; null if the budget is not per month
export const waiting = signal(0);       // requests that wait for the owner
export const notice = signal("");       // said once at the bottom, and to screen readers

/** The catalog in use: {name, role, who}. */
export const current = computed(() => {
  const all = catalogs.value ?? [];
  const wanted = route.value.query.get("catalog") ?? chosen.value;
  return all.find((each) => each.name === wanted) ?? all[0] ?? null;
});
export const role = computed(() => current.value?.role ?? null);
export const isOwner = computed(() => role.value === "owner");
export const mayAsk = computed(() => role.value === "owner" || role.value === "analyst");

/** The address of the calls of the catalog in use. */
export const base = computed(() => `/v1/catalogs/${encodeURIComponent(current.value?.name ?? "")}`);

/** Go to a view of the page. */
export function go(address, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"](null, "", address);
  readAddress();
  scrollTo(0, 0);
}
export function readAddress() {
  route.value = { path: location.pathname, query: new URLSearchParams(location.search) };
}

export function choose(name) {
  localStorage.setItem("discreet-catalog", name);
  chosen.value = name;
  schema.value = budget.value = months.value = null;
  const query = new URLSearchParams(location.search);
  query.delete("catalog");
  go(`${location.pathname.startsWith("/answers/") ? "/" : location.pathname}`);
  load();
}

function signedOut() {
  if (catalogs.value?.length) notice.value = "You were signed out. Your query is still here.";
  forget();
}

function forget() {
  catalogs.value = [];
  schema.value = budget.value = months.value = null;
  waiting.value = 0;
}

function begin(found) {
  useSession(found.csrf, signedOut);
  catalogs.value = found.catalogs;
}

/** Use the session that the browser has, or the one-time code of a link; load what views need. */
export async function start() {
  const code = /^#code=([0-9a-f]+)$/.exec(location.hash)?.[1];
  if (location.hash) history.replaceState(null, "", location.pathname + location.search);
  try {
    begin(code ? await post("/v1/session", { code }, { quiet: true }) : await get("/v1/session", { quiet: true }));
    await load();
  } catch (error) {
    useSession("", signedOut);
    catalogs.value = [];
    if (code) {
      begin(await get("/v1/session", { quiet: true }));
      await load();
      if (current.value) return;
      notice.value = "This sign-in link was used before or has expired. Restart the server for a new one, or use a token.";
    } else notice.value = `${error.message}. ${error.remedy}`;
  }
}

export async function signIn(token) {
  begin(await post("/v1/session", { token }, { quiet: true }));
  await load();
}

/** End the session; another window may have begun it since, with another CSRF token. */
async function endSession() {
  const end = () => call("DELETE", "/v1/session", undefined, { quiet: true });
  try { await end(); } catch (error) {
    if (error.status !== 403) throw error;
    useSession((await get("/v1/session", { quiet: true })).csrf);
    await end();
  }
}

/** Sign out, and forget what the window remembers of this account. */
export async function signOut() {
  try { await endSession(); } catch (error) {
    if (error.status !== 401) { say(`You are still signed in. ${error.message}.`); return; }
  }
  forget();
  sessionStorage.clear();
  useSession("");
  go("/");
}

/** Load the tables and the budget of the catalog in use. */
export async function load() {
  if (!current.value) return;
  const [tables] = await Promise.all([get(`${base.value}/schema`), refreshBudget(), refreshWaiting()]);
  schema.value = tables;
}

export async function refreshBudget() {
  if (!mayAsk.value) return;
  const found = await get(`${base.value}/budget`);
  months.value = found.months ?? null;
  budget.value = found.remaining;
}

export async function refreshWaiting() {
  if (!isOwner.value) { waiting.value = 0; return; }
  const { requests } = await get(`${base.value}/requests`);
  waiting.value = requests.filter((each) => each.state === "open").length;
}

let clearing = 0;
/** Say something at the bottom of the page for a moment. */
export function say(words) {
  notice.value = words;
  clearTimeout(clearing);
  clearing = setTimeout(() => { if (notice.value === words) notice.value = ""; }, 5000);
}
