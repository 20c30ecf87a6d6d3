/** A project with a thread that has three runs, a branch and an open question. */
import { cli, projectsWith, type CliOptions, type CliResult, type Project } from "./harness.js";

const STORAGE = ["--checkpointer-scheme", "sqlite", "--checkpointer-uri", "./threads.db"];

/** Echoes a message, interrupts if the message is about paying, and keeps a note that clients never see. */
export const chatGraph = (prefix = "echo") => `
import { AIMessage } from "@langchain/core/messages";
import { Annotation, END, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ ...MessagesAnnotation.spec, count: Annotation, secret: Annotation });
const Output = Annotation.Root({ ...MessagesAnnotation.spec, count: Annotation });
export const graph = new StateGraph(State, { output: Output })
  .addNode("reply", (state) => ({
    messages: [new AIMessage("${prefix}: " + String(state.messages.at(-1)?.content))],
    count: (state.count ?? 0) + 1,
    secret: "internal",
  }))
  .addNode("pay", () => ({ messages: [new AIMessage("paid " + String(interrupt({ question: "how much?" })))] }))
  .addEdge(START, "reply")
  .addConditionalEdges("reply", (state) => (/pay/.test(String(state.messages.at(-1)?.content)) ? "pay" : END), [
    "pay",
    END,
  ])
  .addEdge("pay", END)
  .compile();
`;

export interface ThreadProject extends Project {
  threadId: string;
  /** Runs a command without storage flags. */
  bare(argv: string[]): Promise<CliResult>;
  /** Runs a command on the project's storage. */
  run(argv: string[], options?: CliOptions): Promise<CliResult>;
  json<T>(argv: string[]): Promise<{ code: number; document: T }>;
}

interface HistoryState {
  metadata: { step: number };
  checkpoint: { checkpoint_id: string };
}

function runnerOf({ dir }: Project): Pick<ThreadProject, "bare" | "run" | "json"> {
  const run = (argv: string[], options: CliOptions = {}) =>
    cli([...argv, ...STORAGE], { cwd: dir, ...options });
  const json = async <T>(argv: string[]) => {
    const { code, stdout } = await run([...argv, "--json"]);
    return { code, document: JSON.parse(stdout) as T };
  };
  return { run, json, bare: (argv) => cli(argv, { cwd: dir }) };
}

/** Creates the thread and returns its id. */
async function converse(project: Project, message: string): Promise<string> {
  const { run, json } = runnerOf(project);
  const started = await json<{ thread_id: string }>(["run", "--message", message]);
  const threadId = started.document.thread_id;
  const first = await json<{ items: HistoryState[] }>(["history", threadId, "--limit", "1"]);
  const answered = first.document.items[0]?.checkpoint.checkpoint_id ?? "";
  await run(["run", "--thread", threadId, "--message", "again"]);
  // Branches from the first answer; the branch ends with a question.
  await run(["run", "--thread", threadId, "--checkpoint", answered, "--message", "pay 5"]);
  return threadId;
}

const projectsByMessage = new Map<string, ReturnType<typeof projectsWith<string>>>();

function projectsThatSay(message: string): ReturnType<typeof projectsWith<string>> {
  const files = {
    "graph.ts": chatGraph(),
    "graph-server.config.json": { graphs: { agent: "./graph.ts:graph" } },
  };
  const next = projectsByMessage.get(message) ?? projectsWith(files, (project) => converse(project, message));
  projectsByMessage.set(message, next);
  return next;
}

export async function createThreadProject(message = "hello"): Promise<ThreadProject> {
  const { project, details: threadId } = await projectsThatSay(message)();
  return { ...project, threadId, ...runnerOf(project) };
}
