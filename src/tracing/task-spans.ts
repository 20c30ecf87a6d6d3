/** Arranges the tasks of a run as a tree of spans: subgraphs, nodes, and the calls of models and tools in them. */
import type { RunTask, RunTasks } from "../models/run.js";
import * as names from "./names.js";

export interface TaskSpan {
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
 */
export function taskSpans({ tasks }: Pick<RunTasks, "tasks">, endedAt: number): TaskSpan[] {
  const roots: TaskSpan[] = [];
  const nodes = new Map<string, TaskSpan>();
  const agents = new Map<string, TaskSpan>();
  for (const task of tasks) {
    const span = spanOf(task, endedAt);
    if (task.kind === "node") {
      agentOf(task.namespace, span).push(span);
      nodes.set(task.namespace, span);
    } else (nodes.get(task.namespace)?.children ?? roots).push(span);
  }
  return roots;

  /** The spans beside which a node belongs: those of its graph. */
  function agentOf(namespace: string, { from, to }: TaskSpan): TaskSpan[] {
    const [, above] = /^(.*)\|[^|]*$/.exec(namespace) ?? [];
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
      ...{ name: `invoke_agent ${name}`, isClient: false, attributes, from, to },
      ...{ hasFailed: false, children: [] },
    };
    agents.set(above, agent);
    node.children.push(agent);
    return agent.children;
  }
}

function spanOf(task: RunTask, endedAt: number): TaskSpan {
  const { kind, name, step, state, started_at, ended_at, usage, tool_call_id } = task;
  const from = Date.parse(started_at);
  const common = {
    from,
    to: Math.max(from, ended_at === null ? endedAt : Date.parse(ended_at)),
    hasFailed: state === "failed",
    isClient: kind === "model",
    children: [],
  };
  const at = { ...(step !== null && { [names.STEP]: step }), [names.STATE]: state };
  if (kind === "node") return { ...common, name, attributes: { [names.NODE]: name, ...at } };
  if (kind === "tool") {
    const attributes = {
      ...{ [names.OPERATION]: "execute_tool", [names.TOOL]: name },
      ...(tool_call_id !== undefined && { [names.TOOL_CALL]: tool_call_id }),
    };
    return { ...common, name: `execute_tool ${name}`, attributes: { ...attributes, ...at } };
  }
  const tokens = usage && {
    [names.INPUT_TOKENS]: usage.input_tokens,
    [names.OUTPUT_TOKENS]: usage.output_tokens,
  };
  const attributes = { [names.OPERATION]: "chat", [names.MODEL]: name, ...tokens };
  return { ...common, name: `chat ${name}`, attributes: { ...attributes, ...at } };
}
