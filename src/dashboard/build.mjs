// Bundles the page into the folder that is named: every file but index.html has its hash in its
// name, and each that can shrink lies there compressed as well.
//
//   node build.mjs OUT

import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = path.dirname(fileURLToPath(import.meta.url));
const out = path.resolve(process.argv[2] ?? "");
const PLACE = "/dashboard/";
const SHRINKS = new Set([".js", ".css", ".svg", ".html", ".webmanifest"]);

if (!process.argv[2]) throw new Error("Name the folder to build into: node build.mjs OUT");

const files = new Map();
const common = {
  absWorkingDir: here,
  outdir: out,
  bundle: true,
  minify: true,
  target: ["es2022"],
  legalComments: "eof",
  write: false,
  metafile: true,
  logLevel: "warning",
};

// Workers first: the page is told the names under which they are served.
const worker = await build({
  ...common,
  entryPoints: { layout: "src/graph/layout-worker.ts" },
  format: "iife",
  entryNames: "[name]-[hash]",
});
for (const file of worker.outputFiles) files.set(path.basename(file.path), file.contents);

const result = await build({
  ...common,
  define: { LAYOUT_WORKER: JSON.stringify(PLACE + [...files.keys()][0]) },
  entryPoints: { app: "src/main.tsx", style: "src/style/index.css" },
  format: "esm",
  splitting: true,
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  assetNames: "[name]-[hash]",
});

/** What was built from a source, and the name under which that is served. */
const output = (source) =>
  Object.keys(result.metafile.outputs).find((f) => result.metafile.outputs[f].entryPoint === source);
const built = (source) => PLACE + path.basename(output(source));

for (const file of result.outputFiles) files.set(path.basename(file.path), file.contents);

/** Adds a file of public/ under a name with its hash; the served name. */
const add = (name, contents) => {
  const { name: stem, ext } = path.parse(name);
  const hash = createHash("sha256").update(contents).digest("hex").slice(0, 8).toUpperCase();
  files.set(`${stem}-${hash}${ext}`, contents);
  return `${PLACE}${stem}-${hash}${ext}`;
};

/** What a source brings along before it can run: the browser need not find out step by step. */
const closure = (file, found = new Set()) => {
  for (const { path: next, kind } of result.metafile.outputs[file].imports)
    if (kind === "import-statement" && !found.has(next)) closure(next, found.add(next));
  return found;
};
const FIRST_SCREEN = "src/screens/recall.tsx";
const first = new Set([
  ...closure(output("src/main.tsx")),
  output(FIRST_SCREEN),
  ...closure(output(FIRST_SCREEN)),
]);
const preload = [...first].map((f) => `<link rel="modulepreload" href="${PLACE}${path.basename(f)}">`);

const names = {
  PRELOAD: preload.join("\n"),
  SCRIPT: built("src/main.tsx"),
  STYLE: built("src/style/index.css"),
};
const fill = (text) => text.replace(/%([A-Z]+)%/g, (_, key) => names[key]);
const publicFile = (name) => readFile(path.join(here, "public", name));

names.ICON = add("icon.svg", await publicFile("icon.svg"));
names.EARLY = add("early.js", await publicFile("early.js"));
names.MANIFEST = add(
  "app.webmanifest",
  Buffer.from(fill((await publicFile("app.webmanifest")).toString())),
);
files.set("index.html", Buffer.from(fill((await publicFile("index.html")).toString())));

// The licences of what is bundled go along with it.
const inputs = [...Object.keys(worker.metafile.inputs), ...Object.keys(result.metafile.inputs)];
const packages = new Set(inputs.map((f) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(f)?.[1]).filter(Boolean));
const licences = [];
for (const name of [...packages].sort()) {
  const folder = path.join(here, "node_modules", name);
  const { version, license } = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
  const file = (await readdir(folder)).find((f) => /^licen[cs]e/i.test(f));
  const text = file ? await readFile(path.join(folder, file), "utf8") : "";
  licences.push(`${name} ${version} (${license})\n\n${text.trim()}\n`);
}
files.set("licences.txt", Buffer.from(licences.join(`\n${"-".repeat(72)}\n\n`)));

for (const [name, contents] of [...files]) {
  if (!SHRINKS.has(path.extname(name))) continue;
  const options = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
  files.set(`${name}.br`, brotliCompressSync(contents, options));
  files.set(`${name}.gz`, gzipSync(contents, { level: 9 }));
}

// A daemon that runs from this folder serves one whole page or the other: first the new parts, then
// the page that names them, at last the old parts go.
await mkdir(out, { recursive: true });
const page = (name) => name.startsWith("index.html");
for (const [name, contents] of [...files].sort(([a], [b]) => page(a) - page(b))) {
  await writeFile(path.join(out, `.${name}.new`), contents);
  await rename(path.join(out, `.${name}.new`), path.join(out, name));
}
for (const old of await readdir(out)) if (!files.has(old)) await rm(path.join(out, old), { recursive: true });
