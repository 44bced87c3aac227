// Calls of the server. Every call that changes something carries the session's CSRF token.

/** A call that the server rejected: a stable code, one sentence, the remedy, the place. */
export class CallError extends Error {
  constructor(status, content) {
    super(content.message ?? "The server did not answer");
    this.status = status;
    this.code = content.code ?? "internal";
    this.remedy = content.remedy ?? "";
    this.place = content.place ?? null;
    this.details = content;
    this.retryAfter = 0;
  }
}

const LOST = { code: "connection", message: "The connection to the server was lost", remedy: "Try again" };

const session = { csrf: "", onSignedOut: () => {} };

/** Keep the CSRF token of the session, and what to do when the session has ended. */
export function useSession(csrf, onSignedOut) {
  session.csrf = csrf;
  session.onSignedOut = onSignedOut ?? session.onSignedOut;
}

/** Make a call; return its JSON. `headers`, `signal` (to abort) and `read(content, reply)` are optional. */
export async function call(method, path, body, { headers = {}, signal, quiet = false, read = (content) => content } = {}) {
  const reply = await fetched(method, path, body, headers, signal);
  if (reply.status === 204) return null;
  const content = await contentOf(reply);
  if (reply.ok) return read(content, reply);
  const error = new CallError(reply.status, content.error ?? {});
  error.retryAfter = Number(reply.headers.get("retry-after") ?? 0);
  if (reply.status === 401 && !quiet) session.onSignedOut();
  throw error;
}

/** The JSON of a reply. One that was cut off is not a value. */
async function contentOf(reply) {
  try { return await reply.json(); } catch (error) {
    if (!reply.ok) return {};
    throw error.name === "AbortError" ? error : new CallError(0, LOST);
  }
}

async function fetched(method, path, body, headers, signal) {
  const all = { Accept: "application/json", ...headers };
  if (body !== undefined) all["Content-Type"] = "application/json";
  if (method !== "GET") all["X-CSRF-Token"] = session.csrf;
  try {
    return await fetch(path, {
      method, headers: all, signal, credentials: "same-origin",
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new CallError(0, LOST);
  }
}

export const get = (path, more) => call("GET", path, undefined, more);
export const post = (path, body = {}, more) => call("POST", path, body, more);

const PATIENCE = [1, 2, 4, 8, 15, 30];
/** Seconds before each repetition of a call whose connection was lost or that was sent away. */

/**
 * Run a query. The key makes repetitions the same call: it is charged once, whatever happens to the
 * connection. `onWait(seconds, error)` is told before each repetition. Returns {id, answer}.
 */
export async function ask(base, body, { key = newKey(), onWait = () => {}, signal } = {}) {
  const read = (answer, reply) => ({ id: reply.headers.get("discreet-answer"), answer });
  for (let turn = 0; ; turn += 1) {
    try {
      return await post(`${base}/ask`, body, { headers: { "Idempotency-Key": key }, signal, read });
    } catch (error) {
      const again = error instanceof CallError && [0, 408, 429, 502, 504].includes(error.status)
        || error.code === "stopping";
      if (!again || turn >= PATIENCE.length) throw error;
      const seconds = error.retryAfter || PATIENCE[turn];
      onWait(seconds, error);
      await new Promise((go) => setTimeout(go, 1000 * seconds));
      if (signal?.aborted) throw new DOMException("Nobody waits any more", "AbortError");
    }
  }
}

/** Return a new key of a call. */
export const newKey = () => crypto.randomUUID?.() ?? Array.from(
  crypto.getRandomValues(new Uint8Array(16)), (each) => each.toString(16).padStart(2, "0")).join("");
