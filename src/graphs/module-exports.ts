/** The exports of a graph module, and which of them is its graph. */
import { GraphLoadError } from "../support/errors.js";
import { isServedGraph, type ServedGraph } from "./graph.js";

export type Exports = Record<string, unknown>;

/** A graph that is not compiled yet. */
export interface GraphBuilder {
  compile(): unknown;
}

export type GraphExport =
  | { kind: "graph"; graph: ServedGraph }
  | { kind: "builder"; builder: GraphBuilder }
  | { kind: "function"; call: (config: unknown) => unknown }
  | { kind: "promise"; promise: PromiseLike<unknown> }
  | { kind: "other"; what: string };

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

/** Classify an exported value, or the result of a factory. */
export function classify(value: unknown): GraphExport {
  // Check for a wrapper first: the result of createAgent has some methods of a graph, and the full graph in `.graph`.
  if (isObject(value) && isServedGraph(value.graph)) return { kind: "graph", graph: value.graph };
  if (isServedGraph(value)) return { kind: "graph", graph: value };
  if (isBuilder(value)) return { kind: "builder", builder: value };
  if (isPromise(value)) return { kind: "promise", promise: value };
  if (typeof value !== "function") return { kind: "other", what: whatIs(value) };
  if (/^class\b/.test(Function.prototype.toString.call(value))) return { kind: "other", what: "class" };
  return { kind: "function", call: value as (config: unknown) => unknown };
}

function isBuilder(value: unknown): value is GraphBuilder {
  return isObject(value) && typeof value.compile === "function" && typeof value.addNode === "function";
}

const isPromise = (value: unknown): value is PromiseLike<unknown> =>
  isObject(value) && typeof value.then === "function";

function whatIs(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "array";
  const name = isObject(value)
    ? (Object.getPrototypeOf(value) as object | null)?.constructor?.name
    : undefined;
  return name === undefined || name === "Object" ? typeof value : name;
}

const KINDS = {
  graph: "compiled graph",
  builder: "StateGraph, not compiled",
  function: "function",
  promise: "promise",
};

export const describe = (value: unknown): string => describeKind(classify(value));

export const describeKind = (found: GraphExport): string =>
  found.kind === "other" ? found.what : KINDS[found.kind];

/** The exports by name. If the default export is a plain object, as for CommonJS, its properties count as exports. */
export function exportsOf(module: Exports): Map<string, unknown> {
  const named = new Map(Object.keys(module).map((name) => [name, module[name]]));
  named.delete("module.exports");
  const whole = module.default;
  if (!isPlainObject(whole) || isServedGraph(whole)) return named;
  // An object with `fetch` is an HTTP app, so the default export is kept.
  if (typeof whole.fetch !== "function") named.delete("default");
  for (const [name, value] of Object.entries(whole)) if (!named.has(name)) named.set(name, value);
  return named;
}

function isPlainObject(value: unknown): value is Exports {
  if (!isObject(value)) return false;
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || prototype === Object.prototype;
}

/**
 * The name of the export to serve: the requested one, else `default`, else `graph`, else the module's only compiled
 * graph or promise of one.
 * @param file the module's name in messages
 * @throws GraphLoadError if the export is missing, or several could be meant (`graph_load_failed`)
 */
export function selectExport(
  exports: Map<string, unknown>,
  wanted: string | undefined,
  file: string,
): string {
  if (wanted !== undefined) {
    if (exports.has(wanted)) return wanted;
    throw loadError(`export "${wanted}" not found in ${file}`, exports, file);
  }
  const usual = ["default", "graph"].find((name) => isUsable(exports.get(name)));
  if (usual !== undefined) return usual;
  const graphs = [...exports.keys()].filter((name) => mayBeGraph(exports.get(name)));
  if (graphs.length === 1) return graphs[0] as string;
  if (graphs.length > 1) throw loadError(`${file} exports several graphs`, exports, file);
  throw loadError(`${file} exports no graph under the name default or graph`, exports, file);
}

/** A promise may resolve to a graph. */
const mayBeGraph = (value: unknown): boolean => ["graph", "promise"].includes(classify(value).kind);

const isUsable = (value: unknown): boolean => classify(value).kind !== "other";

/** The target names no graph: the file or the export does not exist, or the export is something else. */
export class GraphTargetError extends GraphLoadError {}

function loadError(what: string, exports: Map<string, unknown>, file: string): GraphTargetError {
  const list = Array.from(exports, ([name, value]) => `${name} (${describe(value)})`).join(", ");
  return new GraphTargetError(`${what}\nexports there: ${list || "none"}`, { hint: hintFor(exports, file) });
}

function hintFor(exports: Map<string, unknown>, file: string): string {
  const names = (kind: GraphExport["kind"]) =>
    [...exports.keys()].filter((name) => classify(exports.get(name)).kind === kind);
  const best = [names("graph"), names("promise"), names("builder"), names("function")].find(
    (group) => group.length > 0,
  );
  if (best) return `write ${best.map((name) => `${file}:${name}`).join(" or ")}`;
  return "export the compiled graph: export const graph = builder.compile()";
}
