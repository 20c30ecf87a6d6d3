/**
 * Builds the scripts and styles of pages/ into dist/pages, and the Studio of studio/ into dist/studio, where the program
 * reads them from; nothing when none changed.
 */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PAGES = ["replay"];
/** Both show what is in src/view. */
const SHARED = ["src/view", "src/models"];
const IN_THE_STUDIO = ["preact", "@preact/signals", "@preact/signals-core"];

const newest = (files) => Math.max(...files.map((file) => statSync(file).mtimeMs));

/** Whether what was built is there and newer than all that it is made of. */
function isCurrent(built, folders) {
  const files = built.map((file) => join(ROOT, file));
  if (!files.every((file) => existsSync(file))) return false;
  const sources = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true }).map((file) => join(ROOT, folder, file)),
  );
  return newest(sources) < Math.min(...files.map((file) => statSync(file).mtimeMs));
}

export async function buildPages() {
  await Promise.all([buildScripts(), buildStudio()]);
}

async function buildStudio() {
  if (isCurrent(["dist/studio/licenses.txt"], ["studio", ...SHARED])) return;
  await build({
    root: join(ROOT, "studio"),
    configFile: false,
    logLevel: "warn",
    // Paths are relative, so that the page works under any prefix.
    base: "./",
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    build: {
      outDir: join(ROOT, "dist/studio"),
      emptyOutDir: true,
      target: "es2022",
      // A policy that allows no data as a script, and a page that fetches for itself.
      assetsInlineLimit: 0,
      modulePreload: false,
    },
  });
  const licenses = IN_THE_STUDIO.map((name) => {
    const text = readFileSync(licenseOf(name), "utf8").trim();
    return `${name}\n\n${text}\n`;
  });
  writeFileSync(join(ROOT, "dist/studio/licenses.txt"), licenses.join("\n---\n\n"));
}

/** Where packages are looked for: not each of them is in this folder's own node_modules. */
function licenseOf(name) {
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? [];
  const file = folders.map((folder) => join(folder, name, "LICENSE")).find((path) => existsSync(path));
  if (file === undefined) throw new Error(`${name} has no LICENSE`);
  return file;
}

async function buildScripts() {
  const built = PAGES.flatMap((page) => [".js", ".css"].map((end) => `dist/pages/${page}${end}`));
  if (isCurrent(built, ["pages", ...SHARED])) return;
  for (const page of PAGES) {
    await build({
      root: join(ROOT, "pages"),
      configFile: false,
      logLevel: "warn",
      build: {
        outDir: join(ROOT, "dist/pages"),
        emptyOutDir: false,
        target: "es2022",
        // A page is one script, and can stand in one file.
        lib: {
          entry: join(ROOT, "pages", `${page}.ts`),
          formats: ["iife"],
          name: page,
          fileName: () => `${page}.js`,
          cssFileName: page,
        },
      },
    });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildPages();
