/** Three nodes that log each turn to the file CHAOS_LOG and stream frames. */
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";

export const NODES = ["a", "b", "c"] as const;
/** Frames per node. */
export const FRAMES = 10;
const TURN_MS = 60;

/** A log line: a node of a run began or ended. */
export interface Turn {
  what: "begin" | "end";
  thread: string;
  run: string;
  node: string;
  pid: number;
  /** Epoch milliseconds on the clock of the machine, even if that of the server is shifted. */
  at: number;
  attempt: number;
}

const State = Annotation.Root({
  /** `tag:in`, `tag:a`, `tag:b`, `tag:c` of each run, in the order of writing. */
  trail: Annotation<string[]>({ reducer: (trail, more) => [...trail, ...more], default: () => [] }),
  tag: Annotation<string>,
});

async function turn(node: string, tag: string, config: LangGraphRunnableConfig) {
  const { configurable = {}, metadata, writer } = config;
  const attempt = Number(metadata?.run_attempt ?? 1);
  const write = (what: Turn["what"]) => {
    const { thread_id, run_id } = configurable as { thread_id: string; run_id: string };
    const line: Turn = {
      what,
      thread: thread_id,
      run: run_id,
      node,
      pid: process.pid,
      at: performance.timeOrigin + performance.now(),
      attempt,
    };
    appendFileSync(process.env.CHAOS_LOG ?? "", `${JSON.stringify(line)}\n`);
  };
  write("begin");
  for (let index = 0; index < FRAMES; index += 1) {
    await sleep(TURN_MS / FRAMES);
    writer?.({ frame: `${tag}:${node}:${index}` });
  }
  write("end");
  return { trail: [`${tag}:${node}`] };
}

/** The names of the nodes that execute the turns `a`, `b` and `c`. */
const chain = (a: string, b: string, c: string) =>
  new StateGraph(State)
    .addNode(a, ({ tag }, config: LangGraphRunnableConfig) => turn("a", tag, config))
    .addNode(b, ({ tag }, config: LangGraphRunnableConfig) => turn("b", tag, config))
    .addNode(c, ({ tag }, config: LangGraphRunnableConfig) => turn("c", tag, config))
    .addEdge(START, a)
    .addEdge(a, b)
    .addEdge(b, c)
    .addEdge(c, END)
    .compile({ name: "chain" });

export const graph = chain("a", "b", "c");

/** The next release renames two nodes; a migration names only the first. */
export const next = chain("a", "second", "third");
