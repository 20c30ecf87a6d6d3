/** A project with various stored threads: a chat with a branch, a question, a failure and hidden keys. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { startServer } from "../../src/http/server.js";
import type { RunningServer } from "../../src/http/listen.js";
import { openService } from "../../src/service/open.js";
import type { Service } from "../../src/service/service.js";
import { askingGraph, echoGraph, failingGraph, projectsWith, type Project } from "./harness.js";

/** A graph that shows `n` and hides `secret`. */
export const vaultGraph = `
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";

const n = Annotation<number>();
const State = Annotation.Root({ n, secret: Annotation<string>() });
export const graph = new StateGraph({ stateSchema: State, output: Annotation.Root({ n }) })
  .addNode("hide", (state) => ({ n: state.n + 1, secret: "classified" }))
  .addEdge(START, "hide")
  .addEdge("hide", END)
  .compile();
`;

const GRAPHS = { agent: "./graph.ts", ask: "./ask.ts", fail: "./fail.ts", vault: "./vault.ts" };
const STORAGE = { checkpointer_scheme: "sqlite", checkpointer_uri: ".graph-serve/dev.db" };

export interface Seeded {
  project: Project;
  /** Thread ids. */
  chat: string;
  asking: string;
  failed: string;
  vault: string;
  /** The first run of the chat, and its last checkpoint, at which a branch starts. */
  run: string;
  fork: string;
}

const nextProject = projectsWith(
  {
    "graph.ts": echoGraph(),
    "ask.ts": askingGraph,
    "fail.ts": failingGraph,
    "vault.ts": vaultGraph,
    "graph-server.config.json": { graphs: GRAPHS },
  },
  async (project) => {
    const service = await openSeeded(project);
    try {
      return await seed(service);
    } finally {
      await service.close();
    }
  },
);

export async function seedProject(): Promise<Seeded> {
  const { project, details } = await nextProject();
  return { project, ...details };
}

/** Opens the service that a server of this project would use. */
export const openSeeded = (project: Project): Promise<Service> =>
  openService({ cwd: project.dir, graphs: GRAPHS, settings: STORAGE });

export async function serveSeeded(project: Project): Promise<RunningServer> {
  return startServer(await openSeeded(project), { host: "127.0.0.1", port: 0 });
}

async function seed(service: Service) {
  const thread = async (metadata: object = {}) =>
    (await service.threads.create({ metadata: { ...metadata } })).thread_id;
  const run = (id: string, assistant_id: string, input: unknown, checkpoint_id?: string) =>
    service.runs.create(id, { assistant_id, input, ...(checkpoint_id && { checkpoint_id }) });
  const say = (content: string) => ({ messages: [{ role: "user", content }] });
  const vault = await thread();
  await run(vault, "vault", { n: 1 });
  const failed = await thread();
  await run(failed, "fail", { n: 1 });
  const asking = await thread();
  await run(asking, "ask", { topic: "cats" });
  const chat = await thread({ user: "ada", count: 3 });
  const first = await run(chat, "agent", say("one"));
  const fork = (await service.state.get(chat)).checkpoint?.checkpoint_id ?? "";
  await run(chat, "agent", say("two"));
  await run(chat, "agent", say("other two"), fork);
  return { chat, asking, failed, vault, run: first.run_id, fork };
}

/** Name, size and modification time of each file in the project's state folder. */
export function filesOf({ dir }: Project): string[] {
  const folder = join(dir, ".graph-serve");
  return readdirSync(folder)
    .sort()
    .map((name) => {
      const { size, mtimeMs } = statSync(join(folder, name));
      return `${name} ${size} ${mtimeMs}`;
    });
}
