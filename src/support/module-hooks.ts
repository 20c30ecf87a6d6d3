/** Hooks into Node's resolution of ES module imports. Registered on first use, because they cost a thread. */
import { register } from "node:module";
import { pathToFileURL } from "node:url";
import { MessageChannel, type MessagePort } from "node:worker_threads";

// Hooks run in their own thread and as plain JavaScript, however this file is executed: hence a
// module in a string.
const RELOAD_HOOK = `
let version = 0;
const files = new Set();
export function initialize({ port }) {
  port.on("message", (message) => {
    version = message.version;
    for (const file of message.files) files.add(file);
    port.postMessage(message.id);
  });
  port.unref();
}
export async function resolve(specifier, context, next) {
  const resolved = await next(specifier, context);
  if (!files.has(resolved.url)) return resolved;
  return { ...resolved, url: resolved.url + "?graph-serve=" + version };
}`;

// Redirects imports of our copy of a package to another copy. A dependency's own copy is left
// alone.
const REDIRECT_HOOK = `
let redirects = [];
export function initialize(data) {
  redirects = data;
}
export async function resolve(specifier, context, next) {
  const redirect = redirects.find(({ name }) => specifier === name || specifier.startsWith(name + "/"));
  if (!redirect) return next(specifier, context);
  const usual = await next(specifier, context).catch(() => undefined);
  if (usual && !usual.url.startsWith(redirect.from)) return usual;
  return next(specifier, { ...context, parentURL: redirect.parent }).catch((error) => usual ?? Promise.reject(error));
}`;

// A module's exports are only accessible in this thread, so the hook appends a line to the module
// that passes them on.
const EXPORTS_HOOK = `
let modules = [];
export function initialize(data) {
  modules = data;
}
export async function load(url, context, next) {
  const loaded = await next(url, context);
  const found = modules.find(({ ending }) => url.endsWith(ending));
  if (!found || loaded.format !== "module" || !loaded.source) return loaded;
  const { name } = found;
  const line = "typeof " + name + "==='undefined'||globalThis[Symbol.for('graph-serve.export')]?.('" + name + "'," + name + ");";
  return { ...loaded, source: Buffer.from(loaded.source).toString() + "\\n" + line };
}`;

const registerHook = (source: string, options: Parameters<typeof register>[1]): void =>
  register(`data:text/javascript,${encodeURIComponent(source)}`, options);

let reloadPort: MessagePort | undefined;
let messages = 0;
/** Files that the hook already knows. */
const versioned = new Set<string>();
let current = 0;

/**
 * Makes imports of `files`, and of all files given before, resolve to that version. Resolves when
 * the hook has confirmed.
 */
export async function versionImports(version: number, files: Iterable<string>): Promise<void> {
  const added = Array.from(files).filter((file) => !versioned.has(file));
  if (version === current && added.length === 0) return;
  current = version;
  for (const file of added) versioned.add(file);
  reloadPort ??= openReloadHook();
  const port = reloadPort;
  const id = (messages += 1);
  const confirmed = new Promise<void>((resolve) => {
    const listen = (answer: unknown): void => {
      if (answer !== id) return;
      port.off("message", listen);
      port.unref();
      resolve();
    };
    port.on("message", listen);
  });
  port.postMessage({ id, version, files: added.map((file) => pathToFileURL(file).href) });
  await confirmed;
}

function openReloadHook(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  registerHook(RELOAD_HOOK, { data: { port: port2 }, transferList: [port2] });
  return port1;
}

/**
 * Imports of the package `name` that would resolve below the URL `from`, or not at all, resolve as
 * from `parent`.
 */
export interface Redirect {
  name: string;
  from: string;
  parent: string;
}

export function redirectImports(redirects: readonly Redirect[]): void {
  registerHook(REDIRECT_HOOK, { data: redirects });
}

/** A declaration to extract from a module, in every copy of its package. */
interface ExportedName {
  /** End of the module's URL. */
  ending: string;
  name: string;
}

/**
 * Calls `onExport` for every copy of `modules` that is imported from now on, before its importer
 * continues.
 */
export function onModuleExports(
  modules: readonly ExportedName[],
  onExport: (name: string, value: unknown) => void,
): void {
  Object.defineProperty(globalThis, Symbol.for("graph-serve.export"), {
    value: onExport,
    configurable: true,
  });
  registerHook(EXPORTS_HOOK, { data: modules });
}
