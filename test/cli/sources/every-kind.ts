/** A project with a thread of every kind that storages may handle differently. */
import { openService } from "../../../src/service/open.js";
import type { Service } from "../../../src/service/service.js";
import { askingGraph, echoGraph, failingGraph, projectsWith, type Project } from "../harness.js";
import { vaultGraph } from "../seeded.js";

/** Interrupts inside a subgraph, after a superstep of the subgraph. */
const teamGraph = `
import { AIMessage } from "@langchain/core/messages";
import { END, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

const expert = new StateGraph(MessagesAnnotation)
  .addNode("think", () => ({ messages: [new AIMessage("thinking")] }))
  .addNode("ask", () => ({ messages: [new AIMessage("answer: " + String(interrupt({ question: "which?" })))] }))
  .addEdge(START, "think")
  .addEdge("think", "ask")
  .addEdge("ask", END)
  .compile();
export const graph = new StateGraph(MessagesAnnotation)
  .addNode("route", () => ({ messages: [new AIMessage("to the expert")] }))
  .addNode("expert", expert)
  .addNode("close", () => ({ messages: new AIMessage("closed") }))
  .addEdge(START, "route")
  .addEdge("route", "expert")
  .addEdge("expert", "close")
  .addEdge("close", END)
  .compile();
`;

/** Three parallel calls of one node, each with its own payload: two finish, the third interrupts. */
const fanGraph = `
import { Annotation, END, interrupt, Send, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({
  topics: Annotation<string[]>,
  notes: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
});
export const graph = new StateGraph(State)
  .addNode("plan", () => ({}))
  .addNode("write", (payload) => ({
    notes: [payload.topic === "c" ? "c " + String(interrupt({ about: payload.topic })) : payload.topic + " done"],
  }))
  .addNode("join", (state) => ({ topics: [...state.notes].sort() }))
  .addEdge(START, "plan")
  .addConditionalEdges("plan", (state) => state.topics.map((topic) => new Send("write", { topic, nested: { topic } })), [
    "write",
  ])
  .addEdge("write", "join")
  .addEdge("join", END)
  .compile();
`;

/** Values that JSON cannot represent, and keys that databases treat specially. */
const oddGraph = `
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ n: Annotation<number>, odd: Annotation, zz: Annotation, a: Annotation });
export const graph = new StateGraph(State)
  .addNode("fill", (state) => ({
    n: state.n + 1,
    zz: new Set(["b", "a"]),
    a: new Map([["k", new Uint8Array([0, 255])]]),
    odd: { "$set": 1, "a.b": [null, { "": "empty" }], zeta: 1, alpha: { y: 1, x: 2 }, text: "\\u0001 é 🙂" },
  }))
  .addEdge(START, "fill")
  .addEdge("fill", END)
  .compile();
`;

export const GRAPHS = {
  agent: "./graph.ts",
  ask: "./ask.ts",
  fail: "./fail.ts",
  vault: "./vault.ts",
  team: "./team.ts",
  fan: "./fan.ts",
  odd: "./odd.ts",
};

export const KINDS = ["chat", "asking", "failed", "vault", "team", "fan", "odd", "empty"] as const;
export type Kind = (typeof KINDS)[number];

export interface EveryKind {
  project: Project;
  /** Thread ids. */
  threads: Record<Kind, string>;
  /** The first run of the chat, and its last checkpoint, at which a branch starts. */
  run: string;
  fork: string;
  /** Namespace of the interrupted subgraph in the thread `team`. */
  namespace: string;
}

const nextProject = projectsWith(
  {
    "graph.ts": echoGraph(),
    "ask.ts": askingGraph,
    "fail.ts": failingGraph,
    "vault.ts": vaultGraph,
    "team.ts": teamGraph,
    "fan.ts": fanGraph,
    "odd.ts": oddGraph,
    "graph-server.config.json": { graphs: GRAPHS },
  },
  async ({ dir }) => {
    const service = await openService({
      cwd: dir,
      graphs: GRAPHS,
      settings: { checkpointer_scheme: "sqlite", checkpointer_uri: ".graph-serve/dev.db" },
    });
    try {
      return await seed(service);
    } finally {
      await service.close();
    }
  },
);

export async function createEveryKind(): Promise<EveryKind> {
  const { project, details } = await nextProject();
  return { project, ...details };
}

const say = (content: string) => ({ messages: [{ role: "user", content, id: `said ${content}` }] });

async function seed(service: Service): Promise<Omit<EveryKind, "project">> {
  const threads = {} as Record<Kind, string>;
  const run = (kind: Kind, assistant_id: string, input: unknown, checkpoint_id?: string) =>
    service.runs.create(threads[kind], { assistant_id, input, ...(checkpoint_id && { checkpoint_id }) });
  for (const kind of KINDS) {
    const metadata = { zone: { west: 1, east: [2] }, user: "ada", kind, n: 3 };
    threads[kind] = (await service.threads.create({ metadata })).thread_id;
  }
  await run("vault", "vault", { n: 1 });
  await run("failed", "fail", { n: 1 });
  await run("asking", "ask", { topic: "cats" });
  await run("team", "team", say("help"));
  await run("fan", "fan", { topics: ["a", "b", "c"] });
  await run("odd", "odd", { n: 1 });
  const first = await run("chat", "agent", say("one"));
  const fork = (await service.state.get(threads.chat)).checkpoint?.checkpoint_id ?? "";
  await run("chat", "agent", say("two"));
  await run("chat", "agent", say("other two"), fork);
  await service.state.update(threads.chat, { values: { messages: [] }, as_node: "reply" });
  const { tasks } = await service.state.get(threads.team);
  return { threads, run: first.run_id, fork, namespace: tasks[0]?.checkpoint?.checkpoint_ns ?? "" };
}
