/**
 * Where recordings get between a graph and its models and tools.
 *
 * Callbacks only look on; a cache is part of each model's own setup, does not stream, and sets the usage to zero; a
 * provider's HTTP would have to be known for each provider. What every chat model shares is `BaseChatModel`, through
 * whose `generate`, `_streamIterator` and `streamEvents` every call goes, with callbacks, ids, tracing and the choice
 * between whole and streamed replies. These three are patched on the prototype, in each copy of `@langchain/core` that
 * graphs were built with: at its first call an instance gets its own `_generate` and `_streamResponseChunks`, the
 * two methods behind which a provider begins. All above them is the library's own code, in recording and in replay.
 * Tools likewise: `StructuredTool.call` parses, calls back and wraps; only `_call` behind it is replaced.
 *
 * A thread that has no recording gets what it always got.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { createRequire } from "node:module";
import { isRecord } from "../../models/common.js";
import { onModuleExports } from "../../support/module-hooks.js";
import { type Recorder, type ModelLike, modelDouble, toolDouble, type ToolLike } from "./doubles.js";
import { MessageMaker } from "./messages.js";
import type { Recording } from "./recording.js";

type Patched = Record<string, (this: unknown, ...args: unknown[]) => unknown>;

/** The recording of a call, by what the call carries: its config, its run manager, the config around it. */
export type FindRecording = (hints: readonly unknown[]) => Recording | undefined;

/** Who looks for recordings now. The methods are patched while there is one; what was given to an instance stays, idle. */
const finders = new Set<FindRecording>();
const restores = new Map<Patched, () => void>();
let shared: Promise<Recorder> | undefined;

/** The base classes behind which calls begin, and the files that declare them. */
const FILES = { BaseChatModel: "language_models/chat_models", StructuredTool: "tools/index" } as const;
type BaseName = keyof typeof FILES;
const BASES = Object.keys(FILES) as BaseName[];

/** By base class: the prototypes of the copies of the library that registered. */
const told = new Map<BaseName, Set<Patched>>();
/** Patches a copy that comes while somebody looks for recordings. */
let onCopy: (base: BaseName, prototype: Patched) => void = () => undefined;
let isListening = false;

/**
 * Watch for copies of the library that graphs load from now on: a provider's package may have one of its own, whose
 * models would be asked past a recording. Imports none itself.
 */
export function onLibraryCopies(): void {
  if (isListening) return;
  isListening = true;
  const modules = BASES.map((name) => ({ ending: `/@langchain/core/dist/${FILES[name]}.js`, name }));
  onModuleExports(modules, (name, value) => {
    const base = name as BaseName;
    told.set(base, (told.get(base) ?? new Set()).add(prototypeOf(value)));
    onCopy(base, prototypeOf(value));
  });
}

/** Patch the graphs' copies of the library. Returns what takes the patches away again. */
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
    for (const prototype of [prototypeOf(own[base]), ...(told.get(base) ?? []), ...commonJsCopies(base)])
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
      // Who came last knows most of the call: a run that is replayed is not recorded.
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

/** Of the copies that CommonJS graphs have loaded, which are other objects than those of ES modules. */
function commonJsCopies(base: BaseName): Patched[] {
  const { cache } = createRequire(import.meta.url);
  return Object.values(cache).flatMap((module) => {
    const path = module?.filename.replaceAll("\\", "/") ?? "";
    if (!path.endsWith(`@langchain/core/dist/${FILES[base]}.cjs`)) return [];
    const found: unknown = (module?.exports as Record<string, unknown> | undefined)?.[base];
    return found === undefined ? [] : [prototypeOf(found)];
  });
}

/** The first id of this name that a config or a run manager carries. */
export function findId(name: "thread_id" | "run_id", hints: readonly unknown[]): string | undefined {
  for (const hint of hints.filter(isRecord)) {
    for (const place of [hint.metadata, hint.configurable]) {
      const id = isRecord(place) ? place[name] : undefined;
      if (typeof id === "string") return id;
    }
  }
  return undefined;
}
