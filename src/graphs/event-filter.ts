/** The `events` mode: LangChain's events, without the data of events that may contain hidden values. */
import { isRecord, type JsonObject } from "../models/common.js";
import { filterAt, nodePathOf, type OutputFilter } from "./output-filter.js";

/** LangGraph tags the run of a node, but not the runs that the node starts. */
const isNodeRun = ({ tags }: JsonObject): boolean =>
  Array.isArray(tags) && tags.some((tag) => /^graph:step:\d+$/.test(String(tag)));

const isChain = ({ event }: JsonObject): boolean => String(event).startsWith("on_chain_");

/**
 * The visible part of an event. Graphs that a node's function calls are unknown, so data is omitted for tasks, for
 * graphs that no node declares, and for chains inside a node, which may be such graphs.
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
