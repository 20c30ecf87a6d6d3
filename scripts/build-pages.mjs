/**
 * Builds the Studio of studio/ into dist/studio, and into dist/pages as one script and one style for pages that carry
 * their thread; the program reads them from there. Nothing when none changed.
 */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** It shows what is in src/view. */
const SHARED = ["src/view", "src/models"];
const IN_THE_STUDIO = ["preact", "@preact/signals", "@preact/signals-core", "eventsource-parser", "marked"];

const JSX = { jsx: { runtime: "automatic", importSource: "preact" } };

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
  await Promise.all([buildPage(), buildStudio()]);
}

async function buildStudio() {
  if (isCurrent(["dist/studio/licenses.txt"], ["studio", ...SHARED])) return;
  await build({
    root: join(ROOT, "studio"),
    configFile: false,
    logLevel: "warn",
    // Paths are relative, so that the page works under any prefix.
    base: "./",
    oxc: JSX,
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

async function buildPage() {
  const built = [".js", ".css"].map((end) => `dist/pages/studio${end}`);
  if (isCurrent(built, ["studio", ...SHARED])) return;
  await build({
    root: join(ROOT, "studio"),
    configFile: false,
    logLevel: "warn",
    publicDir: false,
    oxc: JSX,
    build: {
      outDir: join(ROOT, "dist/pages"),
      emptyOutDir: true,
      target: "es2022",
      lib: {
        entry: join(ROOT, "studio/page.ts"),
        formats: ["iife"],
        name: "studio",
        fileName: () => "studio.js",
        cssFileName: "studio",
      },
    },
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildPages();
