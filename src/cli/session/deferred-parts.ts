/**
 * Loads CommonJS packages without those of their dependencies that this program does not call. Express alone loads 130
 * files, of which serving needs 36.
 */
import { createRequire } from "node:module";
import Module from "node:module";
import { tryOr } from "../../support/errors/thrown.js";

type Called = (this: unknown, ...args: unknown[]) => unknown;

const require = createRequire(import.meta.url);

/** Dependencies of Express for what this server does itself, or only does in error responses. */
const UNCALLED_BY_EXPRESS = [
  ...["body-parser", "qs", "type-is", "accepts", "mime-types", "content-disposition", "http-errors"],
  ...["send", "serve-static", "etag", "fresh", "range-parser", "cookie", "cookie-signature"],
];
/** Dependencies of pino for files, transports and redaction. */
const UNCALLED_BY_PINO = ["thread-stream", "on-exit-leak-free", "@pinojs/redact"];

/**
 * Imports the server. Call it before the service is opened: on Node 20, imports are slower once the first graph is
 * loaded, which needs an AsyncLocalStorage.
 */
export async function importServer() {
  loadWithout(UNCALLED_BY_EXPRESS, "express");
  return import("../../http/server.js");
}

export async function importPino() {
  loadWithout(UNCALLED_BY_PINO, "pino");
  return import("pino");
}

/**
 * Loads the package `name` if it is not loaded yet. Each of `parts` is loaded by the first call of one of its functions.
 * @param parts dependencies of the package from which it only takes functions, and calls none of them while it loads
 */
function loadWithout(parts: readonly string[], name: string): void {
  const file = require.resolve(name);
  if (require.cache[file]) return;
  const ofPackage = createRequire(file);
  const deferred = new Set<string>();
  for (const part of parts) {
    // Another version of the package may not have this dependency.
    const partFile = tryOr(() => ofPackage.resolve(part));
    if (partFile === undefined || require.cache[partFile]) continue;
    require.cache[partFile] = standIn(partFile, () => ofPackage(part) as object);
    deferred.add(partFile);
  }
  try {
    require(file);
  } finally {
    // All other code, such as that of graphs, gets the parts themselves.
    for (const partFile of deferred) delete require.cache[partFile];
  }
}

/** A module that exports a function with functions, all of which call those of the loaded part. */
function standIn(file: string, load: () => object): NodeJS.Module {
  let loaded: object | undefined;
  const part = () => (loaded ??= load());
  const module = new Module(file);
  module.filename = file;
  module.loaded = true;
  module.exports = new Proxy(calling(part), {
    get: (target, key) =>
      typeof key === "string" && !(key in target)
        ? calling(() => Reflect.get(part(), key) as object)
        : (Reflect.get(target, key) as unknown),
  });
  return module;
}

/** Calls the function, or the constructor, that `load` returns. */
const calling = (load: () => object) =>
  function (this: unknown, ...args: unknown[]): unknown {
    return new.target
      ? Reflect.construct(load() as never, args)
      : Reflect.apply(load() as Called, this, args);
  };
