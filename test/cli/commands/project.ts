/** The project for tests of every command, and threads with hostile content. */
import { openService } from "../../../src/service/open.js";
import { cli } from "../harness.js";
import { createEveryKind, GRAPHS, type EveryKind } from "../sources/every-kind.js";

/** C0 and C1 controls, a hyperlink, a title, colours, bidirectional overrides, a line break and a tab. */
export const HOSTILE =
  "\u001b]8;;http://evil.example\u0007click\u001b]8;;\u0007\u001b]0;owned\u0007\u001b[2J\u009b31m\u0085\u202egnp.exe\u2066\u061c\u0000\b\r\n\ttail";
/** Characters that must never reach a terminal. Line breaks, and tabs in JSON, are written by the program. */
export const CONTROL =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

const hostileGraph = `
import { Annotation, END, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ ...MessagesAnnotation.spec, extra: Annotation });
export const graph = new StateGraph(State)
  .addNode("ask", (state) => {
    const text = String(state.messages.at(-1)?.content);
    if (text.startsWith("throw")) throw new Error(text);
    return { extra: { [text]: String(interrupt({ [text]: text })) } };
  })
  .addEdge(START, "ask")
  .addEdge("ask", END)
  .compile();
`;

export interface Hostile {
  /** Ids of a thread with an open question, a thread with an error, and their runs. */
  asking: string;
  failed: string;
  askingRun: string;
  failedRun: string;
}

export async function createProjectOfCommands(): Promise<EveryKind & { hostile: Hostile; chatRun: string }> {
  const every = await createEveryKind();
  const { project, threads, run } = every;
  await project.put("hostile.ts", hostileGraph);
  await project.put("graph-server.config.json", { graphs: { ...GRAPHS, hostile: "./hostile.ts" } });
  await project.put(
    "passes.graph.yaml",
    "graph: agent\ncases:\n  - name: answers\n    input: { messages: [{ role: user, content: hi }] }\n",
  );
  await cli(["export", threads.chat, "--out", "thread.json"], { cwd: project.dir });
  const service = await openService({
    cwd: project.dir,
    graphs: { ...GRAPHS, hostile: "./hostile.ts" },
    settings: { checkpointer_scheme: "sqlite", checkpointer_uri: ".graph-serve/dev.db" },
  });
  try {
    const make = async (content: string) => {
      // NUL characters are rejected on input.
      const text = content.replaceAll("\0", "");
      const { thread_id } = await service.threads.create({ metadata: { [text]: text } });
      const input = { messages: [{ role: "user", content: text, name: text }], extra: { [text]: [text] } };
      const { run_id } = await service.runs.create(thread_id, { assistant_id: "hostile", input });
      return { thread_id, run_id };
    };
    const [asking, failed] = [await make(HOSTILE), await make(`throw ${HOSTILE}`)];
    const hostile = {
      asking: asking.thread_id,
      failed: failed.thread_id,
      askingRun: asking.run_id,
      failedRun: failed.run_id,
    };
    return { ...every, hostile, chatRun: run };
  } finally {
    await service.close();
  }
}
