// The shape of an answer: what can be drawn, and where on its axes.
import { decimalsFor, key, margin, number } from "/page/js/format.js";

const ORDERED = new Set(["integer", "real", "time", "date", "timestamp"]);
const NUMBERS = new Set(["integer", "real"]);
const MOST_BARS = 40, FROM_LINE = 12, MOST_SQUARES = 12, MOST_LINES = 6;

/** Columns of an answer: its group keys, and the numbers that can be drawn. */
export const keysOf = (answer) => answer.columns.filter((each) => each.role === "key");
export const numbersOf = (answer) => answer.columns.filter((each) => each.role !== "key" && NUMBERS.has(each.type));

/** A group key as it is shown; midnight is left out of days. */
export const keyText = (value) => key(typeof value === "string" ? value.replace(/^(\d{4}-\d\d-\d\d)T00:00:00$/, "$1") : value);

const different = (answer, column) => {
  const at = answer.columns.indexOf(column);
  return [...new Map(answer.rows.map((row) => [keyText(row[at]), row[at]])).values()];
};

/** Which chart fits the shape of an answer: single, bars, line, heat, lines, or none. */
export function kindOf(answer) {
  const keys = keysOf(answer), isNoisy = Object.keys(answer.errors).length + Object.keys(answer.intervals).length > 0;
  if (!answer.rows.length || !numbersOf(answer).length) return "none";
  if (!keys.length) return answer.rows.length === 1 && isNoisy ? "single" : "none";
  if (keys.length === 1) {
    if (ORDERED.has(keys[0].type) && answer.rows.length > FROM_LINE) return "line";
    return answer.rows.length <= MOST_BARS ? "bars" : "none";
  }
  if (keys.length > 2) return "none";
  const sizes = keys.map((each) => different(answer, each).length);
  if (sizes.every((each) => each <= MOST_SQUARES)) return "heat";
  const along = keys.findIndex((each, i) => ORDERED.has(each.type) && sizes[1 - i] <= MOST_LINES);
  return along >= 0 ? "lines" : "none";
}

/** The rows of an answer for one of its numbers: keys, value, low and high end, and the text of both. */
export function pointsOf(answer, column, ghost) {
  const at = answer.columns.indexOf(column), errors = answer.errors[column.name], ends = answer.intervals[column.name];
  const keys = keysOf(answer).map((each) => answer.columns.indexOf(each));
  return answer.rows.map((row, i) => {
    const value = typeof row[at] === "number" ? row[at] : null;
    const half = typeof errors?.[i] === "number" ? errors[i] : null;
    const [low, high] = ends?.[i] ?? (value === null || half === null ? [null, null] : [value - half, value + half]);
    return {
      keys: keys.map((each) => row[each]), name: keys.map((each) => keyText(row[each])).join(", "), value, half, low, high,
      ghost: ghost?.[column.name] ?? null,
      text: value === null ? "NULL" : number(value, column.type === "integer" ? 0 : decimalsFor(half)),
      error: half === null ? "" : margin(half),
    };
  });
}

/** Round steps of an axis. */
export function steps(low, high, about = 5) {
  const raw = (high - low || 1) / about, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each >= raw);
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-6; at += step) found.push(Number(at.toPrecision(12)));
  return found;
}
export const brief = (value) => (Math.abs(value) >= 10000 ? `${number(value / 1000)}k` : number(value));

/** The range of values and their ends; counts begin at 0. */
export function reach(points, fromZero) {
  const all = points.flatMap((each) => [each.value, each.low, each.high, each.ghost && each.value - each.ghost, each.ghost && each.value + each.ghost])
    .filter((each) => typeof each === "number" && Number.isFinite(each));
  if (!all.length) return [0, 1];
  const low = Math.min(...all), high = Math.max(...all);
  return fromZero ? [Math.min(0, low), Math.max(0, high) || 1] : low === high ? [low - 1, high + 1] : [low, high];
}

const MONTH = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
const YEAR = new Intl.DateTimeFormat("en-GB", { month: "short", year: "numeric", timeZone: "UTC" });

/** Where a key lies on its axis: a number, or a time. */
export const placeOf = (value) => (typeof value === "number" ? value : Date.parse(/\dZ?$/.test(value) && !/Z$|[+-]\d\d:\d\d$/.test(value) && String(value).includes("T") ? `${value}Z` : value));
export function axisText(value, first, last) {
  if (typeof value !== "string") return brief(value);
  return (placeOf(last) - placeOf(first) > 6e10 ? YEAR : MONTH).format(new Date(placeOf(value)));
}

/** The sentence that stands for a chart. */
export function sentenceOf(answer, column) {
  const points = pointsOf(answer, column).filter((each) => each.value !== null), keys = keysOf(answer);
  const said = (each) => `${each.text}${each.error && ` ${each.error}`}`;
  if (!points.length) return `${column.name}: no numbers`;
  if (!keys.length) return `${column.name}: ${said(points[0])}`;
  const sorted = [...points].sort((a, b) => a.value - b.value), [low, high] = [sorted[0], sorted.at(-1)];
  return `${column.name} by ${keys.map((each) => each.name).join(" and ")}: ${points.length} groups, from ${said(low)} (${low.name}) to ${said(high)} (${high.name})`;
}
