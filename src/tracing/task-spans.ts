/** Arranges the tasks of a run as a tree of spans: subgraphs, nodes, and the calls of models and tools in them. */
import type { RunTask } from "../models/run.js";
import * as names from "./names.js";

export interface TaskSpan {
  /** Undefined for a subgraph, which is not a task itself. */
  task?: RunTask;
  /** Identifies the span within its run. */
  key: string;
  name: string;
  /** A call of a model leaves the process. */
  isClient: boolean;
  attributes: Record<string, string | number>;
  /** In milliseconds since 1970. */
  from: number;
  to: number;
  hasFailed: boolean;
  children: TaskSpan[];
}

/**
 * The tree of the tasks, from their namespaces: `child:<task id>|node:<task id>` is a node of the graph that the node
 * `child` calls, and calls have the namespace of their node. Parents by namespace are right for parallel nodes, too.
 * @param endedAt end of the run, for tasks that have not ended; in milliseconds since 1970
 * @param thread id of the thread
 */
export function taskSpans(
  { tasks }: { readonly tasks: readonly RunTask[] },
  endedAt: number,
  thread: string,
): TaskSpan[] {
  const roots: TaskSpan[] = [];
  const nodes = new Map<string, TaskSpan>();
  const agents = new Map<string, TaskSpan>();
  for (const [index, task] of tasks.entries()) {
    const span = spanOf(task, String(index), endedAt, thread);
    if (task.kind === "node") {
      agentOf(task.namespace, span).push(span);
      nodes.set(task.namespace, span);
    } else (nodes.get(task.namespace)?.children ?? roots).push(span);
  }
  return roots;

  /** The spans beside which a node belongs: those of its graph. */
  function agentOf(namespace: string, { from, to }: TaskSpan): TaskSpan[] {
    // Repeated calls of a graph in one node have a number: `child:<task id>|1|node:<task id>`.
    const [, above] = /^(.*?)(?:\|\d+)*\|[^|]*$/.exec(namespace) ?? [];
    const node = above === undefined ? undefined : nodes.get(above);
    if (above === undefined || !node) return roots;
    const known = agents.get(above);
    if (known) {
      known.to = Math.max(known.to, to);
      return known.children;
    }
    const name = String(node.attributes[names.NODE]);
    const attributes = { [names.OPERATION]: "invoke_agent", [names.AGENT]: name };
    const agent: TaskSpan = {
      ...{ key: `${node.key}:agent`, name: `invoke_agent ${name}`, isClient: false, attributes, from, to },
      ...{ hasFailed: false, children: [] },
    };
    agents.set(above, agent);
    node.children.push(agent);
    return agent.children;
  }
}

/** Names of providers that differ from those of LangChain. */
const PROVIDERS: Readonly<Record<string, string>> = {
  amazon_bedrock: "aws.bedrock",
  azure: "azure.ai.openai",
  google_genai: "gcp.gemini",
  google_vertexai: "gcp.vertex_ai",
  mistral: "mistral_ai",
  mistralai: "mistral_ai",
  xai: "x_ai",
};

function spanOf(task: RunTask, key: string, endedAt: number, thread: string): TaskSpan {
  const { kind, state, started_at, ended_at } = task;
  const from = Date.parse(started_at);
  return {
    task,
    key,
    name: nameOf(task),
    isClient: kind === "model",
    attributes: attributesOf(task, thread),
    from,
    to: Math.max(from, ended_at === null ? endedAt : Date.parse(ended_at)),
    hasFailed: state === "failed",
    children: [],
  };
}

function nameOf({ kind, name }: RunTask): string {
  if (kind === "node") return name;
  return kind === "tool" ? `execute_tool ${name}` : `chat ${name}`;
}

/** Assigned one by one: every task of every traced run gets them. */
function attributesOf(task: RunTask, thread: string): TaskSpan["attributes"] {
  const { kind, name, step, state, tool_call_id, error } = task;
  const attributes: TaskSpan["attributes"] = {};
  if (kind === "node") attributes[names.NODE] = name;
  else if (kind === "tool") {
    attributes[names.OPERATION] = "execute_tool";
    attributes[names.TOOL] = name;
    if (tool_call_id !== undefined) attributes[names.TOOL_CALL] = tool_call_id;
  } else addCall(attributes, task, thread);
  if (step !== null) attributes[names.STEP] = step;
  attributes[names.STATE] = state;
  // Tasks of earlier versions have no class.
  if (state === "failed") attributes[names.ERROR_TYPE] = error ?? "_OTHER";
  return attributes;
}

function addCall(attributes: TaskSpan["attributes"], task: RunTask, thread: string): void {
  const { name, usage, provider, cache_read_tokens, cache_write_tokens, reasoning_tokens } = task;
  Object.assign(attributes, {
    ...{ [names.OPERATION]: "chat", [names.MODEL]: name, [names.CONVERSATION]: thread },
    // The convention requires one.
    [names.PROVIDER]: PROVIDERS[provider ?? ""] ?? provider ?? "unknown",
    ...(usage && { [names.INPUT_TOKENS]: usage.input_tokens, [names.OUTPUT_TOKENS]: usage.output_tokens }),
    ...(cache_read_tokens !== undefined && { [names.CACHE_READ_TOKENS]: cache_read_tokens }),
    ...(cache_write_tokens !== undefined && { [names.CACHE_WRITE_TOKENS]: cache_write_tokens }),
    ...(reasoning_tokens !== undefined && { [names.REASONING_TOKENS]: reasoning_tokens }),
    ...(usage?.cost_usd !== undefined && { [names.COST]: usage.cost_usd }),
  });
}
