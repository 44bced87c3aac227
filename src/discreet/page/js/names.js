// Names of tables and columns: how a query writes them, and what is declared about them.

/** A name as a query writes it: quoted if it has to be. */
export const writtenName = (name) => (/^[a-z_][a-z0-9_]*$/i.test(name) ? name : `"${name.replaceAll('"', '""')}"`);

/** What is declared about a column, in few words. */
export function declared(column, table) {
  const isUnit = table?.is_private && table.protects.split(/[\s,]+/).includes(column.name);
  if (isUnit) return "who is protected";
  if (column.values) return column.values.length <= 3 ? column.values.map(String).join(", ") : `${column.values.length} values`;
  if (column.bounds === "auto") return "bounds are found";
  if (column.bounds) return `${column.bounds[0]} to ${column.bounds[1]}`;
  return table?.is_private && column.type === "text" ? "not declared" : column.type;
}
