/** Builds the scripts and styles of pages/ into dist/pages, where the program reads them from; nothing when none changed. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PAGES = ["replay"];
/** What a page is made of. */
const SOURCES = ["pages", "src/view"];

const newest = (files) => Math.max(...files.map((file) => statSync(file).mtimeMs));

function isCurrent() {
  const built = PAGES.flatMap((page) => [".js", ".css"].map((end) => join(ROOT, "dist/pages", page + end)));
  if (!built.every((file) => existsSync(file))) return false;
  const sources = SOURCES.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true }).map((file) => join(ROOT, folder, file)),
  );
  return newest(sources) < Math.min(...built.map((file) => statSync(file).mtimeMs));
}

export async function buildPages() {
  if (isCurrent()) return;
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
