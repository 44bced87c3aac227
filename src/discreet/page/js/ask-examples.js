// Queries to begin with, made from what is declared: each but the last one works as it is.
import { writtenName } from "/page/js/names.js";

const title = (words) => words.slice(0, 1).toUpperCase() + words.slice(1);
const listed = (column) => column.values && column.values.length > 1 && column.values.length <= 40;
const bounded = (column) => Array.isArray(column.bounds) && (column.type === "integer" || column.type === "real");

/** Return [{name, sql}] for the tables of a catalog. */
export function examplesOf(tables) {
  const priv = tables.filter((each) => each.is_private);
  if (!priv.length) return tables.slice(0, 1).map((each) => ({ name: title(each.name), sql: `SELECT *\nFROM ${writtenName(each.name)}` }));
  const many = priv.reduce((best, each) => ((each.rows_per_unit ?? 1) > (best.rows_per_unit ?? 1) ? each : best), priv[0]);
  const few = priv.find((each) => each.rows_per_unit === 1);
  return [...ofRows(many), ...(few && few !== many ? ofPeople(few) : []), ...hidden(many), rejected(many)].filter(Boolean);
}

function ofRows(table) {
  const key = table.columns.find(listed), value = table.columns.find(bounded), day = table.columns.find((each) => each.type === "date" && Array.isArray(each.bounds));
  const rows = writtenName(table.name), k = key && writtenName(key.name), v = value && writtenName(value.name);
  return [
    key && value && { name: title(`${table.name} and ${value.name} by ${key.name}`),
      sql: `SELECT ${k},\n       COUNT(*) AS ${rows},\n       AVG(${v}) AS ${v}\nFROM ${rows}\nGROUP BY ${k}` },
    key && !value && { name: title(`${table.name} by ${key.name}`), sql: `SELECT ${k}, COUNT(*) AS ${rows}\nFROM ${rows}\nGROUP BY ${k}` },
    day && { name: title(`${table.name} by week`),
      sql: `SELECT DATE_TRUNC('week', ${writtenName(day.name)}) AS week,\n       COUNT(*) AS ${rows}\nFROM ${rows}\nGROUP BY week\nORDER BY week` },
    !key && { name: title(`how many ${table.name}`), sql: `SELECT COUNT(*) AS ${rows}\nFROM ${rows}` },
  ];
}

function ofPeople(table) {
  const people = writtenName(table.name), flag = table.columns.find((each) => each.type === "boolean"), key = table.columns.filter(listed).at(-1);
  const k = key && writtenName(key.name), f = flag && writtenName(flag.name);
  return [
    key && flag && { name: title(`${table.name} by ${key.name} and ${flag.name}`),
      sql: `SELECT ${k}, ${f}, COUNT(*) AS ${people}\nFROM ${people}\nGROUP BY ${k}, ${f}` },
    { name: title(`how many ${table.name}`), sql: `SELECT COUNT(*) AS ${people}\nFROM ${people}` },
  ];
}

function hidden(table) {
  const open = table.columns.find((each) => each.type === "text" && !each.values), rows = writtenName(table.name), o = open && writtenName(open.name);
  return [open && { name: title(`most frequent ${open.name}`), epsilon: 0.5,
    sql: `SELECT ${o}, COUNT(*) AS ${rows}\nFROM ${rows}\nGROUP BY ${o}\nORDER BY ${rows} DESC` }];
}

function rejected(table) {
  const value = table.columns.find((each) => bounded(each) && each.type === "real") ?? table.columns.find(bounded), rows = writtenName(table.name);
  const where = value ? `\nWHERE ${writtenName(value.name)} > ${(Number(value.bounds[0]) + 4 * Number(value.bounds[1])) / 5}` : "";
  return { name: "A rejected query", sql: `SELECT *\nFROM ${rows}${where}` };
}
