/** Hooks into Node's resolution of ES module imports; registered on first need, since they cost a thread. */
import { register } from "node:module";
import { pathToFileURL } from "node:url";
import { MessageChannel, type MessagePort } from "node:worker_threads";

// The hooks run in a thread of their own and as plain JavaScript, whatever runs this file: hence a module in a string.
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

// Our copy of a package gives way to another one; a copy of its own that some dependency has is left alone.
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

// Only this thread can access a module's exports, so a line appended to the module hands them over.
const TELLING_HOOK = `
let modules = [];
export function initialize(data) {
  modules = data;
}
export async function load(url, context, next) {
  const loaded = await next(url, context);
  const found = modules.find(({ ending }) => url.endsWith(ending));
  if (!found || loaded.format !== "module" || !loaded.source) return loaded;
  const { name } = found;
  const line = "typeof " + name + "==='undefined'||globalThis[Symbol.for('graph-serve.told')]?.('" + name + "'," + name + ");";
  return { ...loaded, source: Buffer.from(loaded.source).toString() + "\\n" + line };
}`;

const registerHook = (source: string, options: Parameters<typeof register>[1]): void =>
  register(`data:text/javascript,${encodeURIComponent(source)}`, options);

let reloadPort: MessagePort | undefined;
let messages = 0;
/** What the hook knows. */
const versioned = new Set<string>();
let current = 0;

/** From now on, an import of one of `files`, or of those named before, gets that version. Resolves when the hook knows. */
export async function versionImports(version: number, files: Iterable<string>): Promise<void> {
  const added = Array.from(files).filter((file) => !versioned.has(file));
  if (version === current && added.length === 0) return;
  current = version;
  for (const file of added) versioned.add(file);
  reloadPort ??= openReloadHook();
  const port = reloadPort;
  const id = (messages += 1);
  const heard = new Promise<void>((resolve) => {
    const listen = (answer: unknown): void => {
      if (answer !== id) return;
      port.off("message", listen);
      port.unref();
      resolve();
    };
    port.on("message", listen);
  });
  port.postMessage({ id, version, files: added.map((file) => pathToFileURL(file).href) });
  await heard;
}

function openReloadHook(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  registerHook(RELOAD_HOOK, { data: { port: port2 }, transferList: [port2] });
  return port1;
}

/** Imports of the package `name` that would resolve below the URL `from`, or not at all, resolve as from `parent`. */
export interface Redirect {
  name: string;
  from: string;
  parent: string;
}

export function redirectImports(redirects: readonly Redirect[]): void {
  registerHook(REDIRECT_HOOK, { data: redirects });
}

/** A module of this name, in whatever copy of its package, and what is wanted of what it declares. */
interface ToldModule {
  /** How its URL ends. */
  ending: string;
  name: string;
}

/** Each copy of one of `modules` that is imported from now on hands over what it declares, before its importer continues. */
export function onModuleExports(
  modules: readonly ToldModule[],
  heard: (name: string, value: unknown) => void,
): void {
  Object.defineProperty(globalThis, Symbol.for("graph-serve.told"), { value: heard, configurable: true });
  registerHook(TELLING_HOOK, { data: modules });
}
