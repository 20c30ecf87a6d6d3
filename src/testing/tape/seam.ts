/**
 * Where recordings get between a graph and its models and tools.
 *
 * Callbacks only look on; a cache is part of each model's own setup, does not stream, and sets the usage to zero; a
 * provider's HTTP would have to be known for each provider. What every chat model shares is `BaseChatModel`, through
 * whose `generate`, `_streamIterator` and `streamEvents` every call goes, with callbacks, ids, tracing and the choice
 * between whole and streamed replies. These three are patched on the prototype, in the copy of `@langchain/core` that
 * the graph was built with: at its first call an instance gets its own `_generate` and `_streamResponseChunks`, the
 * two methods behind which a provider begins. All above them is the library's own code, in recording and in replay.
 * Tools likewise: `StructuredTool.call` parses, calls back and wraps; only `_call` behind it is stood in for.
 *
 * A thread that has no tape gets what it always got.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { createRequire } from "node:module";
import { isRecord } from "../../models/common.js";
import type { Deck } from "./deck.js";
import { MessageMaker } from "./messages.js";
import { standInForModel, type ModelLike } from "./model-stand-in.js";
import type { Tape } from "./tape.js";
import { standInForTool, type ToolLike } from "./tool-stand-in.js";

type Patched = Record<string, (this: unknown, ...args: unknown[]) => unknown>;

/** Patch the graph's copy of the library. Returns what takes the patches away again. */
export async function installSeam(tapes: ReadonlyMap<string, Tape>): Promise<() => void> {
  const [chat, tools, messages, outputs, singletons] = await Promise.all([
    import("@langchain/core/language_models/chat_models"),
    import("@langchain/core/tools"),
    import("@langchain/core/messages"),
    import("@langchain/core/outputs"),
    import("@langchain/core/singletons"),
  ]);
  const ambient = (): unknown => singletons.AsyncLocalStorageProviderSingleton.getRunnableConfig();
  const deck: Deck = {
    tapeOf: (...hints) => findTape(tapes, [...hints, ambient()]),
    inside: new AsyncLocalStorage(),
    maker: new MessageMaker(messages, outputs),
  };
  const restores: (() => void)[] = [];
  const models = [chat.BaseChatModel, ...commonJsCopies("language_models/chat_models", "BaseChatModel")];
  for (const { prototype } of models as { prototype: Patched }[]) {
    const prepare = (model: unknown) =>
      standInForModel(model as ModelLike, prototype as unknown as ModelLike, deck);
    for (const method of ["generate", "_streamIterator", "streamEvents"])
      restores.push(patch(prototype, method, prepare));
  }
  const toolClasses = [tools.StructuredTool, ...commonJsCopies("tools/index", "StructuredTool")];
  for (const { prototype } of toolClasses as { prototype: Patched }[]) {
    restores.push(patch(prototype, "call", (tool) => standInForTool(tool as ToolLike, deck)));
  }
  return () => restores.forEach((restore) => restore());
}

function patch(prototype: Patched, method: string, prepare: (instance: unknown) => void): () => void {
  const original = prototype[method];
  if (typeof original !== "function") return () => undefined;
  prototype[method] = function patched(...args) {
    prepare(this);
    return original.apply(this, args);
  };
  return () => {
    prototype[method] = original;
  };
}

/** Classes of the copies that CommonJS graphs have loaded, which are other objects than those of ES modules. */
function commonJsCopies(file: string, name: string): unknown[] {
  const { cache } = createRequire(import.meta.url);
  return Object.values(cache).flatMap((module) => {
    const path = module?.filename.replaceAll("\\", "/") ?? "";
    if (!path.endsWith(`@langchain/core/dist/${file}.cjs`)) return [];
    const found: unknown = (module?.exports as Record<string, unknown> | undefined)?.[name];
    return found === undefined ? [] : [found];
  });
}

/** By the thread's id, wherever a call carries it; where none does, the only tape there is. */
function findTape(tapes: ReadonlyMap<string, Tape>, hints: readonly unknown[]): Tape | undefined {
  if (tapes.size === 0) return undefined;
  for (const hint of hints) {
    const threadId = threadOf(hint);
    if (threadId !== undefined) return tapes.get(threadId);
  }
  return tapes.size === 1 ? [...tapes.values()][0] : undefined;
}

/** The thread of a config or of a run manager. */
function threadOf(hint: unknown): string | undefined {
  if (!isRecord(hint)) return undefined;
  for (const place of [hint.metadata, hint.configurable]) {
    if (isRecord(place) && typeof place.thread_id === "string") return place.thread_id;
  }
  return undefined;
}
