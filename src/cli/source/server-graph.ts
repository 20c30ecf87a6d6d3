import { GraphServeError } from "../../errors.js";
import type { Source } from "./source.js";

/**
 * The graph of a server that a command is about: the one it names, else the server's first.
 * @throws GraphServeError when the server has none (`assistant_not_found`)
 */
export async function serverGraph(source: Source, target: string | undefined): Promise<string> {
  if (target !== undefined) return target;
  const [first] = (await source.assistants.search({ limit: 1 })).items;
  if (first?.graph_id !== undefined) return first.graph_id;
  throw new GraphServeError("assistant_not_found", `the server at ${source.place} has no assistant`);
}
