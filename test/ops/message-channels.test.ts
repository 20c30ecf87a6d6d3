/** A state key named `messages` holds chat messages in most graphs, but other values in some. */
import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import {
  Annotation,
  MessagesAnnotation,
  messagesStateReducer,
  MessagesValue,
  MessagesZodState,
  START,
  StateGraph,
  StateSchema,
} from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { startTestServer } from "../helpers/app.js";

const seen: unknown[] = [];
/** A graph with one node that records its input. */
const withState = (state: typeof MessagesAnnotation) =>
  new StateGraph(state)
    .addNode("look", ({ messages }) => {
      seen.push(messages);
      return {};
    })
    .addEdge(START, "look")
    .compile();
const graphOf = (state: unknown) => withState(state as typeof MessagesAnnotation);
const concat = (before: unknown[], more: unknown) => before.concat(more);

const graphs = {
  messages: graphOf(MessagesAnnotation),
  "messages by zod": graphOf(MessagesZodState),
  "messages by StateSchema": graphOf(new StateSchema({ messages: MessagesValue })),
  "messages by default value": graphOf(
    Annotation.Root({
      messages: Annotation<unknown[]>({ reducer: concat, default: () => [new HumanMessage("0")] }),
    }),
  ),
  "a list without types": graphOf(
    Annotation.Root({ messages: Annotation<unknown[]>({ reducer: concat, default: () => [] }) }),
  ),
  "a reducer around messages": graphOf(
    Annotation.Root({
      messages: Annotation<BaseMessage[]>({
        reducer: (a, b) => messagesStateReducer(a, b),
        default: () => [],
      }),
    }),
  ),
  "strings by zod": graphOf(z.object({ messages: z.array(z.string()) })),
  "strings by StateSchema": graphOf(new StateSchema({ messages: z.array(z.string()) })),
  "strings by default value": graphOf(
    Annotation.Root({ messages: Annotation<unknown[]>({ reducer: concat, default: () => ["0"] }) }),
  ),
  "one string": graphOf(z.object({ messages: z.string() })),
  objects: graphOf(z.object({ messages: z.array(z.object({ role: z.string(), content: z.string() })) })),
};

const isMessage = (value: unknown) => typeof value === "object" && value !== null && "lc_kwargs" in value;
const TEXTS = ["text", "user"];
const OBJECTS = [{ role: "user", content: "hi" }];

async function open(graph_id: string) {
  const { request } = await startTestServer({
    graphs: { [graph_id]: graphs[graph_id as keyof typeof graphs] },
  });
  const post = async (path: string, body: unknown) => {
    const { body: answer, status } = await request("POST", path, body);
    expect({ status, answer }).toMatchObject({ status: 200 });
    return answer as { thread_id: string; status: string; error: string | null };
  };
  const { thread_id } = await post("/threads", { metadata: { graph_id } });
  const values = async (): Promise<unknown> => {
    const { body } = await request("GET", `/threads/${thread_id}/state`);
    return (body as { values: { messages: unknown } }).values.messages;
  };
  return { post, values, thread: `/threads/${thread_id}`, graph_id };
}

/** What the node receives from a run with `input`. */
async function runWith(graph: string, messages: unknown): Promise<unknown[]> {
  const { post, thread } = await open(graph);
  seen.length = 0;
  const run = await post(`${thread}/runs`, { assistant_id: graph, input: { messages } });
  expect(run).toMatchObject({ status: "success", error: null });
  return [seen[0]].flat();
}

/** The state after a write, by each API that writes state. */
const WRITES: Record<string, (graph: string, messages: unknown) => Promise<unknown>> = {
  "POST state": async (graph, messages) => {
    const { post, thread, values } = await open(graph);
    await post(`${thread}/state`, { values: { messages }, as_node: "look" });
    return values();
  },
  "command.update": async (graph, messages) => {
    const { post, thread, values } = await open(graph);
    await post(`${thread}/runs`, { assistant_id: graph, command: { update: { messages } } });
    return values();
  },
  "command.update in pairs": async (graph, messages) => {
    const { post, thread, values } = await open(graph);
    await post(`${thread}/runs`, { assistant_id: graph, command: { update: [["messages", messages]] } });
    return values();
  },
  supersteps: async (graph, messages) => {
    const { post } = await open(graph);
    const thread = await post("/threads", {
      metadata: { graph_id: graph },
      supersteps: [{ updates: [{ values: { messages }, as_node: "look" }] }],
    });
    return (thread as unknown as { values: { messages: unknown } }).values.messages;
  },
};

const MESSAGES = ["messages", "messages by zod", "messages by StateSchema"];
const UNKNOWN = ["a list without types", "a reducer around messages"];
const TEXT_LISTS = ["strings by zod", "strings by StateSchema"];

describe("the input of a run", () => {
  it.each([...MESSAGES, "messages by default value", ...UNKNOWN])(
    "is converted to messages: %s",
    async (graph) => {
      for (const messages of [["text"], "text", OBJECTS, [["human", "hi"]]]) {
        const found = await runWith(graph, messages);
        expect(found.length).toBeGreaterThan(0);
        expect(found.every(isMessage)).toBe(true);
      }
    },
  );

  it.each([...TEXT_LISTS, "strings by default value"])("remains a list of strings: %s", async (graph) => {
    const found = await runWith(graph, TEXTS);
    expect(found.slice(-2)).toEqual(TEXTS);
  });

  it("keeps the type that the schema declares", async () => {
    expect(await runWith("one string", "human")).toEqual(["human"]);
    expect(await runWith("objects", OBJECTS)).toEqual(OBJECTS);
  });
});

describe.each(Object.entries(WRITES))("a write by %s", (_way, write) => {
  it.each([...MESSAGES, "messages by default value"])("is converted to messages: %s", async (graph) => {
    expect((await write(graph, TEXTS.slice(0, 1))) as unknown[]).toMatchObject(
      expect.arrayContaining([expect.objectContaining({ type: "human", content: "text" })]) as unknown[],
    );
  });

  it.each([...TEXT_LISTS, "strings by default value", "a list without types"])(
    "remains a list of strings: %s",
    async (graph) => {
      expect(((await write(graph, TEXTS)) as unknown[]).slice(-2)).toEqual(TEXTS);
    },
  );

  it("keeps a string or objects that the schema declares", async () => {
    expect(await write("one string", "human")).toBe("human");
    expect(await write("objects", OBJECTS)).toEqual(OBJECTS);
  });

  it("converts message-shaped values of an untyped list", async () => {
    const written = ["text", { role: "user", content: "hi" }, { type: "ai", content: "yes" }, { note: 1 }];
    expect(await write("a list without types", written)).toMatchObject([
      "text",
      { type: "human", content: "hi", additional_kwargs: {} },
      { type: "ai", content: "yes", tool_calls: [] },
      { note: 1 },
    ]);
    expect(await write("a reducer around messages", "text")).toMatchObject([
      { type: "human", content: "text" },
    ]);
  });
});
