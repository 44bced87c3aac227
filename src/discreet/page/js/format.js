// How numbers, amounts and times are written.

/** 20147.5 as "20,147.5". */
export function number(value, digits) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "number") return String(value);
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "" : value < 0 ? "−∞" : "∞";
  const shown = digits === undefined ? Number(value.toPrecision(6)) : value;
  const options = digits === undefined ? { maximumFractionDigits: 10 }
    : { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return shown.toLocaleString("en-US", options).replace("-", "−");
}

/** How many decimals a number should show beside its margin of error: two digits of the margin. */
export function decimalsFor(margin) {
  if (!margin || !Number.isFinite(margin)) return undefined;
  return Math.min(10, Math.max(0, 1 - Math.floor(Math.log10(Math.abs(margin)))));
}

/** ± with two or three digits: "±149", "±0.33". */
export function margin(value) {
  if (value === null || value === undefined) return "";
  if (value === "Infinity" || value === Infinity) return "no limit";
  if (value === 0) return "exact";
  return `±${number(value >= 100 ? Math.round(value) : Number(value.toPrecision(value >= 10 ? 3 : 2)))}`;
}

/** An amount of ε: at most three digits after the leading zeros. */
export function amount(value) {
  if (value === null || value === undefined) return "";
  const rounded = value >= 100 ? Math.round(value) : Number(Number(value).toPrecision(3));
  return rounded.toLocaleString("en-US", { maximumFractionDigits: 12 });
}

/** An amount of δ, which is small: "1e-8". */
export const delta = (value) => (value < 0.001 ? String(Number(value.toPrecision(3))) : amount(value));

/** "ε 0.4" for labels and buttons. */
export const eps = (value) => `ε ${amount(value)}`;

/** Keys and names are texts nobody has looked at: control characters are shown as escapes. */
export function key(value) {
  if (value === null || value === undefined) return "NULL";
  if (Array.isArray(value)) return `[${value.map(key).join(", ")}]`;
  if (typeof value === "object") return JSON.stringify(value);
  return String(value).replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A query on one line. */
export const brief = (sql) => key(sql.replace(/\s+/g, " ").trim());

const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const TIME = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });

/** A time as people say it: "today 14:05", "17 Nov 2026". */
export function when(text) {
  const time = new Date(text);
  const day = DAY.format(time);
  return day === DAY.format(new Date()) ? `today ${TIME.format(time)}` : day;
}

/** "1 row", "2 rows". */
export const count = (n, word, words = `${word}s`) => `${number(n)} ${n === 1 ? word : words}`;
