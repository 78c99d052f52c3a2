/**
 * Builds the browser files into `static/`. With `--check` nothing is written: the build
 * is done in memory and compared with what is committed.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const staticFolder = join(here, "../../static");
const sdkSource = join(here, "../../sdk/typescript/src/index.ts");
const KIB = 1024;
const BUDGETS = { loader: 5 * KIB, panel: 35 * KIB };

/** `import css from "./x.css?inline"` gives the minified sheet as a string. */
const inlineCss = {
  name: "inline-css",
  setup(build) {
    build.onResolve({ filter: /\.css\?inline$/ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path.replace(/\?inline$/, "")),
      namespace: "inline-css",
    }));
    build.onLoad({ filter: /.*/, namespace: "inline-css" }, async ({ path }) => {
      const source = readFileSync(path, "utf8");
      const { code } = await esbuild.transform(source, { loader: "css", minify: true });
      return { contents: code.trim(), loader: "text" };
    });
  },
};

async function bundle(entry, options) {
  const { outputFiles } = await esbuild.build({
    absWorkingDir: here,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    charset: "utf8",
    target: "es2022",
    legalComments: "none",
    alias: { "@lantern/sdk": sdkSource },
    plugins: [inlineCss],
    ...options,
  });
  return outputFiles[0].text;
}

/** A module for each language but English, which the panel brings along. */
async function buildLanguages() {
  const files = new Map();
  const names = {};
  for (const name of readdirSync(join(here, "src/i18n")).sort()) {
    const language = /^([a-z-]+)\.json$/.exec(name)?.[1];
    if (language === undefined || language === "en") continue;
    const words = JSON.parse(readFileSync(join(here, "src/i18n", name), "utf8"));
    const code = `export default ${JSON.stringify(words)};\n`;
    names[language] = `lang-${language}-${hashOf(code)}.js`;
    files.set(`widget/${names[language]}`, code);
  }
  return { files, names };
}

function hashOf(text) {
  return createHash("sha256").update(text).digest("hex").slice(0, 10);
}

async function buildAll() {
  const languages = await buildLanguages();
  const panel = await bundle("src/panel/element.ts", {
    format: "esm",
    define: { LANGUAGE_FILES: JSON.stringify(languages.names) },
  });
  const triggers = await bundle("src/triggers.ts", { format: "esm" });
  const triggersFile = `triggers-${hashOf(triggers)}.js`;
  const panelFile = `panel-${hashOf(panel)}.js`;
  const define = {
    PANEL_FILE: JSON.stringify(panelFile),
    TRIGGERS_FILE: JSON.stringify(triggersFile),
  };
  const loader = await bundle("src/loader.ts", { format: "iife", define });
  const manifest = { loader: "widget.js", panel: panelFile };
  return new Map([
    ["widget/widget.js", loader],
    [`widget/${panelFile}`, panel],
    [`widget/${triggersFile}`, triggers],
    ...languages.files,
    ["widget/widget.d.ts", readFileSync(join(here, "widget.d.ts"), "utf8")],
    ["widget/manifest.json", `${JSON.stringify(manifest, null, 2)}\n`],
    ["dashboard/chat.js", await bundle("src/dashboard/main.ts", { format: "iife" })],
    ["dashboard/looks.js", await bundle("src/dashboard/looks.ts", { format: "esm" })],
    ["dashboard/looks.css", await bundle("src/dashboard/looks.css", {})],
    ["dashboard/preview.js", await bundle("src/dashboard/preview.ts", { format: "esm", define })],
    ["dashboard/preview.css", await bundle("src/dashboard/preview.css", {})],
    ["dashboard/chat.css", await bundle("src/dashboard/chat.css", {})],
  ]);
}

function builtFiles() {
  return ["widget", "dashboard"].flatMap((folder) =>
    existsSync(join(staticFolder, folder))
      ? readdirSync(join(staticFolder, folder)).map((name) => `${folder}/${name}`)
      : [],
  );
}

function differences(files) {
  const stale = builtFiles().filter((path) => !files.has(path));
  const changed = [...files].filter(([path, content]) => {
    const target = join(staticFolder, path);
    return !existsSync(target) || readFileSync(target, "utf8") !== content;
  });
  return [
    ...stale.map((path) => `${path}: not a product of this source`),
    ...changed.map(([path]) => `${path}: differs from its source`),
  ];
}

function write(files) {
  for (const path of builtFiles()) {
    if (!files.has(path)) rmSync(join(staticFolder, path));
  }
  for (const [path, content] of files) {
    mkdirSync(dirname(join(staticFolder, path)), { recursive: true });
    writeFileSync(join(staticFolder, path), content);
  }
}

/** Prints the sizes; gives what is over its budget. */
function weigh(files) {
  const over = [];
  for (const [path, content] of files) {
    const size = gzipSync(content, { level: 9 }).length;
    const name = path === "widget/widget.js" ? "loader" : path.includes("/panel-") ? "panel" : "";
    const budget = BUDGETS[name];
    const limit = budget ? ` of ${budget}` : "";
    console.log(`${path.padEnd(32)} ${String(size).padStart(6)}${limit} bytes gzip`);
    if (budget && size > budget) over.push(`${path}: ${size} bytes, over its budget`);
  }
  return over;
}

const files = await buildAll();
const faults = weigh(files);
if (process.argv.includes("--check")) faults.push(...differences(files));
else write(files);
for (const fault of faults) console.error(fault);
if (faults.length > 0) {
  console.error("Run `npm run build` in widget/js and commit what it writes to static/.");
  process.exit(1);
}
