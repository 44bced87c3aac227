// Bundles the libraries of the page and collects their licences: make page.
// Our own modules are served as they are written; only what comes from elsewhere is bundled.
import { build } from "esbuild";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const target = process.argv[2] ?? "../src/discreet/page/vendor";
rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });

const result = await build({
  entryPoints: ["preact.js", "codemirror.js"],
  bundle: true,
  format: "esm",
  minify: true,
  target: "es2022",
  legalComments: "none",
  outdir: target,
  metafile: true,
});

const found = new Map();
for (const path of Object.keys(result.metafile.inputs)) {
  const name = path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1];
  if (name) found.set(name, JSON.parse(readFileSync(join("node_modules", name, "package.json"))));
}

const parts = [...found.keys()].sort().map((name) => {
  const folder = join("node_modules", name);
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  if (!file) throw new Error(`${name} has no licence file`);
  const { version, license } = found.get(name);
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
});
const rule = `\n${"-".repeat(80)}\n\n`;
writeFileSync(join(target, "LICENSES.txt"), parts.join(rule));
console.log([...found].map(([name, { version }]) => `${name} ${version}`).sort().join("\n"));
