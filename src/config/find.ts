/** Finds the configuration file and reads it in any supported format. */
import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, extname, join, resolve } from "node:path";
import { ConfigError } from "../support/errors.js";
import { errorMessage, tryOr } from "../support/errors/thrown.js";
import { entryFile } from "../support/own-package.js";
import { BYTE_ORDER_MARK } from "../support/read-text.js";
import { documentAt, moduleDocument, type ConfigDocument } from "./document.js";
import { jsonDocument } from "./json-document.js";

const NAME = "graph-server";
const MODULE_EXTENSIONS = [".ts", ".mts", ".js", ".mjs", ".cjs"] as const;

/** File names searched in each folder, in order of precedence. */
const SEARCH_PLACES = [
  ...[".json", ".yaml", ".yml", ...MODULE_EXTENSIONS].map((extension) => `${NAME}.config${extension}`),
  ".graph-serverrc",
  "package.json",
  "langgraph.json",
] as const;

/** True for a configuration file of the LangGraph CLI, which has its own keys. */
export function isLangGraphJson(file: string): boolean {
  return /^langgraph.*\.json$/.test(basename(file));
}

/** Nearest configuration file from `cwd` upward; undefined if none exists. */
export async function findConfig(cwd: string): Promise<ConfigDocument | undefined> {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const found = mayConfigure(folder) ? await searchFolder(folder) : undefined;
    if (found) return found;
    if (dirname(folder) === folder) return undefined;
  }
}

/** Whether a folder has a file that may be a configuration: most commands need not load cosmiconfig. */
function mayConfigure(folder: string): boolean {
  return SEARCH_PLACES.some((place) => {
    const file = join(folder, place);
    if (place !== "package.json") return existsSync(file);
    return tryOr(() => mentionsUs(readFileSync(file, "utf8"))) ?? false;
  });
}

async function searchFolder(folder: string): Promise<ConfigDocument | undefined> {
  const { cosmiconfig } = await import("cosmiconfig");
  const explorer = cosmiconfig(NAME, {
    searchPlaces: [...SEARCH_PLACES],
    searchStrategy: "none",
    cache: false,
    loaders: Object.fromEntries(
      [".json", ".yaml", ".yml", "noExt", ...MODULE_EXTENSIONS].map((key) => [key, loadFound]),
    ),
  });
  return (await explorer.search(folder))?.config as ConfigDocument | undefined;
}

/** Whether a package.json may contain settings. */
const mentionsUs = (manifest: string): boolean => manifest.includes(`"${NAME}"`);

/**
 * Reads the given configuration file.
 * @throws ConfigError if it does not exist or is malformed (`config_invalid`)
 */
export async function readConfig(file: string): Promise<ConfigDocument> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new ConfigError(`configuration file ${file} cannot be read: ${errorMessage(error)}`, {
      hint: "check the path; to create a configuration: graph-serve init --config-only",
      cause: error,
    });
  });
  const document = await parseFile(file, text);
  return basename(file) === "package.json" ? documentAt(document, NAME) : document;
}

/** Loader for cosmiconfig, which selects our key from package.json itself. */
async function loadFound(file: string, text: string): Promise<unknown> {
  if (basename(file) !== "package.json") return parseFile(file, text);
  return mentionsUs(text) ? { [NAME]: await packageSection(file, text) } : {};
}

async function packageSection(file: string, text: string): Promise<ConfigDocument | undefined> {
  const section = documentAt(await parseText(file, text, "json"), NAME);
  return section.value === undefined ? undefined : section;
}

async function parseFile(file: string, text: string): Promise<ConfigDocument> {
  const extension = extname(file);
  if (MODULE_EXTENSIONS.some((known) => known === extension))
    return moduleDocument(file, await runConfig(file, text));
  return parseText(file, text, extension === ".json" ? "json" : "yaml");
}

async function parseText(file: string, source: string, format: "json" | "yaml"): Promise<ConfigDocument> {
  const text = source.replace(BYTE_ORDER_MARK, "");
  const json = format === "json" ? jsonDocument(file, text) : undefined;
  if (json) return json;
  const { parseConfigText } = await import("./parse.js");
  return parseConfigText(file, text, format);
}

/** Evaluates the text of a config module. An import would be cached and hide later edits. */
async function runConfig(file: string, text: string): Promise<unknown> {
  const { createJiti } = await import("jiti");
  const jiti = createJiti(file, { moduleCache: false, fsCache: false, alias: ownPackageAlias(file) });
  const options = { id: file, filename: file, ext: extname(file), async: true, forceTranspile: true };
  try {
    const exported = (await jiti.evalModule(text, options)) as { default?: unknown };
    return exported.default ?? exported;
  } catch (error) {
    throw new ConfigError(`configuration file ${file} threw: ${errorMessage(error)}`, {
      location: { file },
      cause: error,
    });
  }
}

/** Lets a config import `defineConfig` from graph-serve if the package is only available through npx. */
function ownPackageAlias(file: string): Record<string, string> {
  try {
    createRequire(file).resolve("graph-serve");
    return {};
  } catch {
    return { "graph-serve": entryFile("config/define") };
  }
}
