/**
 * Patches models and tools of graphs to record and replay their calls.
 *
 * Alternatives do not work: callbacks cannot change results; a cache must be configured per model, does not stream and
 * sets the usage to zero; intercepting HTTP needs code for each provider. All chat models extend `BaseChatModel`, and
 * every call goes through its `generate`, `_streamIterator` or `streamEvents`, which handle callbacks, ids, tracing and
 * the choice between full and streamed responses. These three methods are patched on the prototype, in each copy of
 * `@langchain/core` that graphs use. On its first call, an instance gets its own `_generate` and
 * `_streamResponseChunks`, the two methods that providers implement. Everything above them is the library's own code,
 * in recording and in replay. Tools are patched the same way: `StructuredTool.call` parses, calls callbacks and wraps
 * results; only `_call` is replaced.
 *
 * Threads without a recording are not affected.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { createRequire } from "node:module";
import { isRecord } from "../../models/common.js";
import { onModuleExports } from "../../support/module-hooks.js";
import { type Recorder, type ModelLike, modelDouble, toolDouble, type ToolLike } from "./doubles.js";
import { MessageMaker } from "./messages.js";
import type { Recording } from "./recording.js";

type Patched = Record<string, (this: unknown, ...args: unknown[]) => unknown>;

/** Finds the recording of a call by its hints: its config, its run manager and the ambient config. */
export type FindRecording = (hints: readonly unknown[]) => Recording | undefined;

/** Active finders. The methods are patched while there is at least one; overrides on instances stay, but do nothing. */
const finders = new Set<FindRecording>();
const restores = new Map<Patched, () => void>();
let shared: Promise<Recorder> | undefined;

/** The patched base classes and the files that declare them. */
const FILES = { BaseChatModel: "language_models/chat_models", StructuredTool: "tools/index" } as const;
type BaseName = keyof typeof FILES;
const BASES = Object.keys(FILES) as BaseName[];

/** Prototypes in loaded copies of the library, by base class. */
const loadedPrototypes = new Map<BaseName, Set<Patched>>();
/** Patches a copy that is loaded while a finder is active. */
let onCopy: (base: BaseName, prototype: Patched) => void = () => undefined;
let isListening = false;

/**
 * Tracks copies of the library that graphs load from now on. A provider's package can have its own copy, whose models
 * would bypass the recording. Does not import the library.
 */
export function onLibraryCopies(): void {
  if (isListening) return;
  isListening = true;
  const modules = BASES.map((name) => ({ ending: `/@langchain/core/dist/${FILES[name]}.js`, name }));
  onModuleExports(modules, (name, value) => {
    const base = name as BaseName;
    loadedPrototypes.set(base, (loadedPrototypes.get(base) ?? new Set()).add(prototypeOf(value)));
    onCopy(base, prototypeOf(value));
  });
}

/** Patches the graphs' copies of the library. Returns a function that removes the patches. */
export async function patchLibrary(find: FindRecording): Promise<() => void> {
  shared ??= openRecorder();
  const recorder = await shared;
  const [{ BaseChatModel }, { StructuredTool }] = await Promise.all([
    import("@langchain/core/language_models/chat_models"),
    import("@langchain/core/tools"),
  ]);
  const own = { BaseChatModel, StructuredTool };
  onCopy = (base, prototype) => patchBase(base, prototype, recorder);
  for (const base of BASES)
    for (const prototype of [
      prototypeOf(own[base]),
      ...(loadedPrototypes.get(base) ?? []),
      ...commonJsCopies(base),
    ])
      onCopy(base, prototype);
  finders.add(find);
  return () => {
    finders.delete(find);
    if (finders.size > 0) return;
    onCopy = () => undefined;
    restores.forEach((restore) => restore());
    restores.clear();
  };
}

function patchBase(base: BaseName, prototype: Patched, recorder: Recorder): void {
  if (base === "StructuredTool")
    return patch(prototype, ["call"], (tool) => toolDouble(tool as ToolLike, recorder));
  patch(prototype, ["generate", "_streamIterator", "streamEvents"], (model) =>
    modelDouble(model as ModelLike, prototype as unknown as ModelLike, recorder),
  );
}

const prototypeOf = (base: unknown): Patched => (base as { prototype: Patched }).prototype;

async function openRecorder(): Promise<Recorder> {
  const [messages, outputs, singletons] = await Promise.all([
    import("@langchain/core/messages"),
    import("@langchain/core/outputs"),
    import("@langchain/core/singletons"),
  ]);
  const ambient = (): unknown => singletons.AsyncLocalStorageProviderSingleton.getRunnableConfig();
  return {
    recordingOf(...hints) {
      // The newest finder takes precedence, so that replayed runs are not recorded.
      for (const find of [...finders].reverse()) {
        const recording = find([...hints, ambient()]);
        if (recording) return recording;
      }
      return undefined;
    },
    inside: new AsyncLocalStorage(),
    maker: new MessageMaker(messages, outputs),
  };
}

function patch(prototype: Patched, methods: readonly string[], prepare: (instance: unknown) => void): void {
  if (restores.has(prototype)) return;
  const originals = methods.flatMap((method) => {
    const original = prototype[method];
    return typeof original === "function" ? [[method, original] as const] : [];
  });
  for (const [method, original] of originals) {
    prototype[method] = function patched(...args) {
      prepare(this);
      return original.apply(this, args);
    };
  }
  restores.set(prototype, () => void Object.assign(prototype, Object.fromEntries(originals)));
}

/** Prototypes in copies loaded by CommonJS graphs, which are different objects than those of ES modules. */
function commonJsCopies(base: BaseName): Patched[] {
  const { cache } = createRequire(import.meta.url);
  // By key: a module that another loader has put into the cache may have no file name.
  return Object.entries(cache).flatMap(([file, module]) => {
    if (!file.replaceAll("\\", "/").endsWith(`@langchain/core/dist/${FILES[base]}.cjs`)) return [];
    const found: unknown = (module?.exports as Record<string, unknown> | undefined)?.[base];
    return found === undefined ? [] : [prototypeOf(found)];
  });
}

/** The first id of this name in a config or run manager. */
export function findId(name: "thread_id" | "run_id", hints: readonly unknown[]): string | undefined {
  for (const hint of hints.filter(isRecord)) {
    for (const place of [hint.metadata, hint.configurable]) {
      const id = isRecord(place) ? place[name] : undefined;
      if (typeof id === "string") return id;
    }
  }
  return undefined;
}
