/** The `events` mode: LangChain's own events, less the data of those that may be of no output. */
import { isRecord, type JsonObject } from "../models/common.js";
import { filterAt, nodePathOf, type OutputFilter } from "./output-filter.js";

/** LangGraph marks the run of a node, and nothing that the node runs. */
const isNodeRun = ({ tags }: JsonObject): boolean =>
  Array.isArray(tags) && tags.some((tag) => /^graph:step:\d+$/.test(String(tag)));

const isChain = ({ event }: JsonObject): boolean => String(event).startsWith("on_chain_");

/**
 * An event of a run whose graph hides nothing, as far as it is known. What its nodes call is not known: the data is left
 * out of what happens in a task, in a graph that no node declares, and in a chain inside of a node, which may be one.
 */
export function visibleEvent(event: unknown, filter: OutputFilter): unknown {
  if (!isRecord(event)) return null;
  const { langgraph_checkpoint_ns: namespace } = isRecord(event.metadata) ? event.metadata : {};
  const path = nodePathOf(typeof namespace === "string" ? namespace : "");
  const task = path.pop();
  const graph = filterAt(filter, path);
  if (task === undefined || !graph.speaksOpenly(task)) return { ...event, data: {} };
  if (!isChain(event)) return event;
  if (isNodeRun(event)) return { ...event, data: withInput(event.data, (input) => graph.input(task, input)) };
  return graph.within(task).narrows ? { ...event, data: {} } : event;
}

const withInput = (data: unknown, shown: (input: unknown) => unknown): unknown =>
  isRecord(data) && "input" in data ? { ...data, input: shown(data.input) } : data;
