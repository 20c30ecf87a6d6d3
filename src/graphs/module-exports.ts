/** What a graph module exports, and which export is its graph. */
import { GraphLoadError } from "../errors.js";
import { isServedGraph, type ServedGraph } from "./graph.js";
import type { Exports } from "./module-loader.js";

/** A graph that has yet to be compiled. */
export interface GraphBuilder {
  compile(): unknown;
}

export type GraphExport =
  | { kind: "graph"; graph: ServedGraph }
  | { kind: "builder"; builder: GraphBuilder }
  | { kind: "function"; call: (config: unknown) => unknown }
  | { kind: "other"; what: string };

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

/** Sort out one exported value, or the result of a factory. */
export function classify(value: unknown): GraphExport {
  // The wrapper first: what createAgent gives has some methods of a graph, and its whole graph in `.graph`.
  if (isObject(value) && isServedGraph(value.graph)) return { kind: "graph", graph: value.graph };
  if (isServedGraph(value)) return { kind: "graph", graph: value };
  if (isBuilder(value)) return { kind: "builder", builder: value };
  if (typeof value !== "function") return { kind: "other", what: whatIs(value) };
  if (/^class\b/.test(Function.prototype.toString.call(value))) return { kind: "other", what: "class" };
  return { kind: "function", call: value as (config: unknown) => unknown };
}

function isBuilder(value: unknown): value is GraphBuilder {
  return isObject(value) && typeof value.compile === "function" && typeof value.addNode === "function";
}

function whatIs(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "array";
  const name = isObject(value)
    ? (Object.getPrototypeOf(value) as object | null)?.constructor?.name
    : undefined;
  return name === undefined || name === "Object" ? typeof value : name;
}

export function describe(value: unknown): string {
  const found = classify(value);
  if (found.kind === "other") return found.what;
  return { graph: "compiled graph", builder: "StateGraph, not compiled", function: "function" }[found.kind];
}

/** The exports by name. A plain object as default is what CommonJS exports as a whole: its properties are the exports. */
export function exportsOf(module: Exports): Map<string, unknown> {
  const named = new Map(Object.keys(module).map((name) => [name, module[name]]));
  named.delete("module.exports");
  const whole = module.default;
  if (!isPlainObject(whole) || isServedGraph(whole)) return named;
  named.delete("default");
  for (const [name, value] of Object.entries(whole)) if (!named.has(name)) named.set(name, value);
  return named;
}

function isPlainObject(value: unknown): value is Exports {
  if (!isObject(value)) return false;
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || prototype === Object.prototype;
}

/**
 * The name of the export to serve: the one asked for, else `default`, else `graph`, else the module's only compiled
 * graph.
 * @param file the module as messages name it
 * @throws GraphLoadError when there is none, or more than one (`graph_load_failed`)
 */
export function selectExport(exports: Map<string, unknown>, asked: string | undefined, file: string): string {
  if (asked !== undefined) {
    if (exports.has(asked)) return asked;
    throw loadError(`export "${asked}" not found in ${file}`, exports, file);
  }
  const usual = ["default", "graph"].find((name) => isUsable(exports.get(name)));
  if (usual !== undefined) return usual;
  const graphs = [...exports.keys()].filter((name) => classify(exports.get(name)).kind === "graph");
  if (graphs.length === 1) return graphs[0] as string;
  if (graphs.length > 1) throw loadError(`${file} exports several graphs`, exports, file);
  throw loadError(`${file} exports no graph under the name default or graph`, exports, file);
}

const isUsable = (value: unknown): boolean => classify(value).kind !== "other";

function loadError(what: string, exports: Map<string, unknown>, file: string): GraphLoadError {
  const list = Array.from(exports, ([name, value]) => `${name} (${describe(value)})`).join(", ");
  return new GraphLoadError(`${what}\nexports there: ${list || "none"}`, { hint: hintFor(exports, file) });
}

function hintFor(exports: Map<string, unknown>, file: string): string {
  const names = (kind: GraphExport["kind"]) =>
    [...exports.keys()].filter((name) => classify(exports.get(name)).kind === kind);
  const best = [names("graph"), names("builder"), names("function")].find((group) => group.length > 0);
  if (best) return `write ${best.map((name) => `${file}:${name}`).join(" or ")}`;
  return "export the compiled graph: export const graph = builder.compile()";
}
