/** Lists longer than a call can have arguments, in everything that a client may send. */
import { Annotation, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { startTestServer } from "../helpers/app.js";

const LONG = Array.from({ length: 150_000 }, (_, index) => index);
const THREAD = "0197f0a0-0000-7000-8000-000000000009";

const State = Annotation.Root({ ...MessagesAnnotation.spec, items: Annotation<unknown[]> });

/** Keeps `items`; what its caller sent along is not looked at. */
const graph = new StateGraph(State)
  .addNode("keep", () => ({}))
  .addEdge(START, "keep")
  .addEdge("keep", END)
  .compile({ name: "keep" });

const run = { assistant_id: "keep", input: { items: [1] } };
const message = { role: "user", content: "hi", additional_kwargs: { list: LONG } };

const doors: [what: string, method: string, path: string, body: object][] = [
  ["metadata of a new thread", "POST", "/threads", { metadata: { list: LONG } }],
  ["metadata of a thread", "PATCH", `/threads/${THREAD}`, { metadata: { list: LONG } }],
  [
    "supersteps",
    "POST",
    "/threads",
    { supersteps: [{ updates: [{ values: { items: LONG }, as_node: "keep" }] }] },
  ],
  ["input", "POST", `/threads/${THREAD}/runs`, { ...run, input: { items: LONG } }],
  ["a message", "POST", `/threads/${THREAD}/runs`, { ...run, input: { messages: [message] } }],
  ["metadata of a run", "POST", `/threads/${THREAD}/runs`, { ...run, metadata: { list: LONG } }],
  ["context", "POST", `/threads/${THREAD}/runs`, { ...run, context: { list: LONG } }],
  [
    "configurable values",
    "POST",
    `/threads/${THREAD}/runs`,
    { ...run, config: { configurable: { list: LONG } } },
  ],
  ["a command", "POST", `/threads/${THREAD}/runs`, { ...run, command: { update: { items: LONG } } }],
  [
    "a target",
    "POST",
    `/threads/${THREAD}/runs`,
    { ...run, command: { goto: { node: "keep", input: { items: LONG } } } },
  ],
  ["a state", "POST", `/threads/${THREAD}/state`, { values: { items: LONG } }],
  ["an item", "PUT", "/store/items", { namespace: ["a"], key: "k", value: { list: LONG } }],
];

it.each(["memory", "sqlite"])(
  "lists of 150,000 elements are kept like any other on %s",
  { timeout: 120_000 },
  async (scheme) => {
    const { request } = await startTestServer({
      graphs: { keep: graph },
      settings: {
        checkpointer_scheme: scheme,
        ...(scheme === "sqlite" && { checkpointer_uri: ":memory:" }),
      },
    });
    await request("POST", "/threads", { thread_id: THREAD });
    for (const [what, method, path, body] of doors) {
      const answer = await request(method, path, body);
      expect([200, 204], `${what}: ${answer.text.slice(0, 300)}`).toContain(answer.status);
      if (path.endsWith("/runs")) expect(answer.body, what).toMatchObject({ status: "success", error: null });
    }
    const thread = await request("GET", `/threads/${THREAD}`);
    const { metadata, values } = thread.body as { metadata: { list: number[] }; values: { items: number[] } };
    const item = await request("GET", "/store/items?namespace=a&key=k");
    const { value } = item.body as { value: { list: number[] } };
    for (const list of [metadata.list, values.items, value.list]) expect(String(list)).toBe(String(LONG));
  },
);
