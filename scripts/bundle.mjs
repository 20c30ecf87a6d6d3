/**
 * Bundles src into the JavaScript of dist: Node takes about half a millisecond to load a file, and a server consists of
 * 300 modules. Nearly all packages stay separate. The code is not minified, so that stack traces stay readable.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { basename, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { licenseOf } from "./build-pages.mjs";

const ROOT = join(import.meta.dirname, "..");

/** Files that package.json exports or that are loaded by their path (src/support/own-package.ts). */
const ENTRIES = ["index", "testing/index", "cli/main", "config/define"];
const THREAD = "support/watchdog/thread";

/**
 * What commands load in one step. Modules share a chunk if the same of these parts need them and if they need the same
 * packages: so each part loads a few chunks with little else, and no command loads a package that it does not need.
 * All other modules are divided by the imports that need them.
 */
const PARTS = {
  main: ["cli/main"],
  commands: ["cli/program", "cli/session/open"],
  lists: ["client/rows", "storage/sqlite/open"],
  service: ["service/open", "storage/memory/open"],
  http: ["http/server"],
  start: ["cli/commands/start", "support/watchdog/watchdog"],
};

/**
 * Small packages that the code contains, with what they import: Node takes longer to find and open their 33 files than to
 * compile them. They are development dependencies.
 */
const CONTAINED = ["commander", "cors", "croner", "object-assign", "picocolors", "uuid", "vary"];

const source = (name) => join(ROOT, "src", `${name}.ts`);
const isPackage = (id) => !isAbsolute(id) && !id.startsWith(".") && !CONTAINED.includes(id);

/** The modules and packages that modules import statically, directly or indirectly, and themselves. */
function neededBy(modules, graph) {
  const needed = new Set(modules);
  for (const id of needed)
    for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) needed.add(imported);
  return needed;
}

/** Names the chunk of a module after the parts and packages. */
function chunkNames() {
  const entries = new Set(ENTRIES.map(source));
  let parts;
  return (id, graph) => {
    parts ??= Object.entries(PARTS).map(([name, part]) => ({
      name,
      needed: neededBy(part.map(source), graph),
    }));
    const needing = parts.filter(({ needed }) => needed.has(id)).map(({ name }) => name);
    if (entries.has(id) || needing.length === 0) return null;
    return [...needing, ...packagesOf(id, graph)].join("-");
  };
}

/** The packages of a module. Those of one scope belong together. */
function packagesOf(id, graph) {
  const ignored = (name) => !isPackage(name) || isBuiltin(name);
  const packages = [...neededBy([id], graph)].filter((name) => !ignored(name));
  return [...new Set(packages.map((name) => name.replace(/^@/, "").split("/", 1)[0]))].sort();
}

/** A file that only exports from another file; what it exports, and the other file. */
const FORWARDING = /^export \{ ([^}]+) \} from "\.\/([^"]+)";\s*$/;

/**
 * Imports on demand load the file that contains the module, not one that forwards to it. On Node 20, each `import()` of
 * another file also visits all modules that the file needs again, and LangGraph has hundreds.
 */
const withoutForwarding = {
  name: "without-forwarding",
  generateBundle(_options, files) {
    const chunks = Object.values(files).filter(({ type }) => type === "chunk");
    const forwarding = chunks.filter(({ isEntry, isDynamicEntry, code }) => {
      return !isEntry && isDynamicEntry && FORWARDING.test(code);
    });
    for (const { fileName, code } of forwarding) {
      const [, exported, file] = FORWARDING.exec(code);
      const names = exported.split(", ").map((name) => name.split(" as "));
      const picked = names.map(([from, to = from]) => (from === to ? to : `${from}: ${to}`)).join(", ");
      const returned = names.map((name) => name.at(-1)).join(", ");
      const importOf = (name) => `import("${name}")`;
      for (const chunk of chunks)
        for (const folder of ["./", "./chunks/", "../chunks/"])
          chunk.code = chunk.code.replaceAll(
            importOf(folder + basename(fileName)),
            `${importOf(folder + file)}.then(({ ${picked} }) => ({ ${returned} }))`,
          );
      delete files[fileName];
    }
  },
};

/** @param dir the folder to write to */
export async function bundle(dir) {
  const groups = [{ debugName: "part", name: chunkNames(), includeDependenciesRecursively: false }];
  await write(dir, ENTRIES, { groups });
  // The thread loads only its own file.
  await write(dir, [THREAD], false);
  const licenses = CONTAINED.map((name) => `${name}\n\n${readFileSync(licenseOf(name), "utf8")}`);
  writeFileSync(join(dir, "licenses.txt"), licenses.join("\n---\n\n"));
}

async function write(dir, entries, codeSplitting) {
  const build = await rolldown({
    cwd: ROOT,
    input: Object.fromEntries(entries.map((name) => [name, source(name)])),
    platform: "node",
    tsconfig: join(ROOT, "tsconfig.build.json"),
    external: isPackage,
    plugins: [withoutForwarding],
    // Entry points could also export what other chunks import from them, but none does.
    preserveEntrySignatures: "allow-extension",
    // Some modules are loaded on demand by one file and with the file by another.
    onLog: (level, log, print) => log.code === "INEFFECTIVE_DYNAMIC_IMPORT" || print(level, log),
  });
  // Doc comments are in the type declarations. Node would read and compile those in the code at every start.
  const comments = { legal: true, annotation: true, jsdoc: false };
  const files = { entryFileNames: "[name].js", chunkFileNames: "chunks/[name].js" };
  try {
    await build.write({ dir, format: "es", ...files, keepNames: true, comments, codeSplitting });
  } finally {
    await build.close();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  rmSync(join(ROOT, "dist/chunks"), { recursive: true, force: true });
  await bundle(join(ROOT, "dist"));
}
