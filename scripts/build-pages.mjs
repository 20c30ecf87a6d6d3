/**
 * Builds studio/ into dist/studio, and into dist/pages as one script for pages that embed their thread; they share the
 * style sheet. Skips what is up to date.
 */
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** Sources outside studio/ that the Studio imports. */
const SHARED = ["src/view", "src/models"];
const IN_THE_STUDIO = [
  "preact",
  "@preact/signals",
  "@preact/signals-core",
  "eventsource-parser",
  "marked",
  "@dagrejs/dagre",
  "@dagrejs/graphlib",
  "@codemirror/commands",
  "@codemirror/state",
  "@codemirror/view",
  "@marijn/find-cluster-break",
  "style-mod",
  "w3c-keyname",
  ...["color", "dispatch", "drag", "ease", "interpolate", "selection", "timer", "transition", "zoom"].map(
    (name) => `d3-${name}`,
  ),
];

const JSX = { jsx: { runtime: "automatic", importSource: "preact" } };

/** CodeMirror's commands import its parsers, which the Studio does not use and which do not say that they can be left out. */
const hasSideEffects = (id) => (/node_modules.@lezer./.test(id) ? false : undefined);

const newest = (files) => Math.max(...files.map((file) => statSync(file).mtimeMs));

/** Whether the build output exists and is newer than its sources. */
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
    // Relative paths, so that the page works under any URL prefix.
    base: "./",
    oxc: JSX,
    build: {
      outDir: join(ROOT, "dist/studio"),
      emptyOutDir: true,
      target: "es2022",
      // The content security policy forbids inlined assets: the page loads them itself.
      assetsInlineLimit: 0,
      modulePreload: false,
      rolldownOptions: { treeshake: { moduleSideEffects: hasSideEffects } },
    },
  });
  const licenses = IN_THE_STUDIO.map((name) => {
    const text = readFileSync(licenseOf(name), "utf8").trim();
    return `${name}\n\n${text}\n`;
  });
  writeFileSync(join(ROOT, "dist/studio/licenses.txt"), licenses.join("\n---\n\n"));
}

/** Searches all module paths: some packages are not in this folder's own node_modules. */
export function licenseOf(name) {
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? [];
  const names = ["LICENSE", "LICENSE.md", "license"];
  const paths = folders.flatMap((folder) => names.map((license) => join(folder, name, license)));
  const file = paths.find((path) => existsSync(path));
  if (file === undefined) throw new Error(`${name} has no LICENSE`);
  return file;
}

/** Parts that need a server, with what each exports. The pages do not contain them. */
const SERVER_ONLY = {
  "errors/attempts.tsx": ["Attempts", "RunAgain"],
  "components/dock.tsx": ["Dock"],
  "components/json-editor.tsx": ["JsonEditor"],
  "screens/graphs.tsx": ["Graph", "Graphs"],
  "screens/inbox.tsx": ["Inbox"],
  "screens/memory.tsx": ["Memory"],
  "screens/run.tsx": ["RunScreen"],
  "screens/runs.tsx": ["Runs"],
  "screens/shadow.tsx": ["Shadow"],
  "screens/usage.tsx": ["UsageScreen"],
  "state/bisect.ts": ["bisect"],
};

const withoutServerParts = {
  name: "without-server-parts",
  load(id) {
    const found = Object.entries(SERVER_ONLY).find(([file]) => id === join(ROOT, "studio", file));
    return found?.[1].map((name) => `export const ${name} = () => null;`).join("\n");
  },
};

/** The pages use the style sheet of dist/studio, which has the same rules. */
const UNUSED_STYLE = "unused";

async function buildPage() {
  const built = "dist/pages/studio.js";
  if (isCurrent([built], ["studio", ...SHARED])) return;
  await build({
    root: join(ROOT, "studio"),
    configFile: false,
    logLevel: "warn",
    publicDir: false,
    oxc: JSX,
    plugins: [withoutServerParts],
    build: {
      outDir: join(ROOT, "dist/pages"),
      emptyOutDir: true,
      target: "es2022",
      lib: {
        entry: join(ROOT, "studio/page.ts"),
        formats: ["iife"],
        name: "studio",
        fileName: () => "studio.js",
        cssFileName: UNUSED_STYLE,
      },
    },
  });
  rmSync(join(ROOT, `dist/pages/${UNUSED_STYLE}.css`));
  escapeControls(join(ROOT, built));
}

/** A library has control characters in its strings. Pages must not contain them, because they are printed, too. */
function escapeControls(file) {
  const controls = /[\u0000-\u0008\u000b-\u001f]/g;
  const escaped = (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`;
  writeFileSync(file, readFileSync(file, "utf8").replace(controls, escaped));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildPages();
