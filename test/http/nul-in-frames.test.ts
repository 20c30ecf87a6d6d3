/** Some databases and clients reject U+0000, so every frame contains U+FFFD instead. */
import { AIMessage } from "@langchain/core/messages";
import { Annotation, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { serve, type TestServer } from "../helpers/app.js";
import { keptStorage, onEveryBackend } from "../helpers/backends.js";
import { openTestService } from "../helpers/service.js";
import { allEvents, type SseEvent } from "../helpers/sse.js";
import { command, isLast, openEvents } from "../helpers/thread-events.js";

const State = Annotation.Root({ ...MessagesAnnotation.spec, note: Annotation<string> });
const graph = new StateGraph(State)
  .addNode("speak", (_, { writer }) => {
    writer?.("a\0b");
    writer?.({ name: "step\0", "key\0": 1, escaped: "\\u0000" });
    return { note: "c\0d", messages: [new AIMessage({ id: "1", content: "e\0f" })] };
  })
  .addNode("fail", ({ messages }) => {
    if (messages.length > 1) throw new Error("g\0h");
    return {};
  })
  .addEdge(START, "speak")
  .addEdge("speak", "fail")
  .compile();

const MODES = ["custom", "values", "updates", "messages-tuple", "messages", "tasks", "checkpoints", "debug"];
const NUL = /(?<!\\)(\\\\)*\\u0000|\0/;
const CUSTOM = ["a\uFFFDb", { name: "step\uFFFD", "key\uFFFD": 1, escaped: "\\u0000" }];

const dataOf = (events: readonly SseEvent[], name: string): unknown[] =>
  events.filter(({ event }) => event === name).map(({ data }) => data);

/** Streams a run on a new thread. Returns its events and the path of its stream. */
async function streamed(server: TestServer, messages: string[]) {
  const response = await server.fetch("POST", `/threads/${crypto.randomUUID()}/runs/stream`, {
    ...{ assistant_id: "graph", input: { messages }, stream_mode: MODES },
    ...{ if_not_exists: "create", on_disconnect: "continue" },
  });
  return { path: `${response.headers.get("content-location")}/stream`, events: await allEvents(response) };
}

onEveryBackend("NUL in a stream", (backend) => {
  const open = async () =>
    serve(await openTestService({ graphs: { graph }, storage: await keptStorage(backend()) }));

  it("NUL is replaced in live and in joined streams", async () => {
    const server = await open();
    const { path, events } = await streamed(server, []);
    expect(dataOf(events, "custom")).toEqual(CUSTOM);
    expect(dataOf(events, "values").at(-1)).toMatchObject({
      note: "c\uFFFDd",
      messages: [{ content: "e\uFFFDf" }],
    });
    expect(JSON.stringify(events)).not.toMatch(NUL);
    expect(await allEvents(await server.fetch("GET", path))).toEqual(events);
  });

  it("NUL is replaced in the error frame, also for another process", async () => {
    const server = await open();
    const { path, events } = await streamed(server, ["hi"]);
    expect(dataOf(events, "error")).toMatchObject([{ message: "g\uFFFDh" }]);
    const { text } = await (await open()).request("GET", path);
    expect(text).not.toMatch(NUL);
  });

  it("NUL is replaced in thread events", async () => {
    const server = await open();
    const thread = crypto.randomUUID();
    const events = await openEvents(server, thread);
    await command(server, thread, "run.start", { assistant_id: "graph", input: { messages: [] } });
    const told = await events.until(isLast());
    const custom = told.filter(({ method }) => method === "custom").map(({ params }) => params.data);
    expect(custom).toEqual([{ payload: CUSTOM[0] }, CUSTOM[1]]);
    expect(JSON.stringify(told)).not.toMatch(NUL);
  });
});
