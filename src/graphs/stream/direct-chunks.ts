/**
 * Reads the generator of a LangGraph graph directly. `graph.stream()` returns the same chunks through two streams that
 * LangChain wraps around it and that cost about six promises per chunk: half of the cost of a custom event.
 */
import { ensureConfig } from "@langchain/core/runnables";
import { ambientConfig, type GraphConfig, type ServedGraph } from "../graph.js";

type Chunks = AsyncGenerator<unknown>;

/** The part of LangGraph's Pregel class that is used; `_streamIterator` is a documented method of every Runnable. */
interface Pregel {
  lg_is_pregel?: boolean;
  config?: { recursionLimit?: number };
  _streamIterator?: (input: unknown, options: object) => Chunks;
}

/**
 * How the chunks of a graph can be read: `direct`; `public` if the graph is not a Pregel or overrides `stream`, such as a
 * RemoteGraph; `unknown` if it is a Pregel with different internals.
 */
export function readingOf(graph: ServedGraph): "direct" | "public" | "unknown" {
  const pregel = graph as unknown as Pregel;
  if (pregel.lg_is_pregel !== true) return "public";
  if (typeof pregel._streamIterator !== "function") return "unknown";
  // LangGraph's class defines both methods. A subclass that overrides one of them expects its own method to be called.
  for (let owner: object | null = graph; owner; owner = Object.getPrototypeOf(owner) as object | null) {
    const definesStream = Object.hasOwn(owner, "stream");
    if (definesStream !== Object.hasOwn(owner, "_streamIterator")) return "public";
    if (definesStream) return "direct";
  }
  return "unknown";
}

/**
 * The chunks of `graph.stream(input, config)`; undefined if they can only be read through that method. Unlike it, reading
 * does not end when `config.signal` aborts: the caller has to stop.
 * @param onUnknown called for a Pregel with different internals
 */
export function directChunks(
  graph: ServedGraph,
  input: unknown,
  config: GraphConfig,
  onUnknown?: () => void,
): Chunks | undefined {
  const reading = readingOf(graph);
  if (reading === "unknown") onUnknown?.();
  if (reading !== "direct") return undefined;
  // Inside of a node of another graph, `stream()` also passes that graph's channels on.
  if (ambientConfig()?.configurable?.__pregel_read !== undefined) return undefined;
  const { config: own, _streamIterator } = graph as unknown as Required<Pregel>;
  // `stream()` adds the graph's recursion limit, and LangChain the defaults of a config.
  const options = ensureConfig({ recursionLimit: own?.recursionLimit, ...config });
  return _streamIterator.call(graph, input, options);
}
