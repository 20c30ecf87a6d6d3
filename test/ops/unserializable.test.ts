/** Values that cannot be stored or sent: the error that clients receive, and the state of the thread afterwards. */
import { HumanMessage } from "@langchain/core/messages";
import {
  Annotation,
  Command,
  interrupt,
  Send,
  StateGraph,
  type LangGraphRunnableConfig,
} from "@langchain/langgraph";
import { expect, it } from "vitest";
import { startTestServer, type TestServer } from "../helpers/app.js";
import { renewing, nested, revoked } from "../helpers/odd-values.js";

const fail = (): never => {
  throw new Error("no");
};
class OwnMessage extends HumanMessage {
  static override lc_name(): string {
    return "OwnMessage";
  }
}

const State = Annotation.Root({
  kept: Annotation<string>(),
  value: Annotation<unknown>(),
  list: Annotation<unknown[]>({ reducer: (before, after) => [...before, ...after], default: () => [] }),
  /** Becomes a function, whatever value is written. */
  broken: Annotation<unknown>({ reducer: () => fail, default: () => null }),
});
type Node = (state: typeof State.State, config: LangGraphRunnableConfig) => unknown;

const graphOf = (node: Node) =>
  new StateGraph(State)
    .addNode(
      "node",
      (state: typeof State.State, config: LangGraphRunnableConfig) => node(state, config) as object,
      { ends: ["taken"] },
    )
    .addNode("taken", () => ({ kept: "taken" }))
    .addEdge("__start__", "node")
    .compile();

async function open(node: Node): Promise<TestServer & { threadId: string }> {
  const graphs = { odd: graphOf(node), plain: graphOf(() => ({ kept: "before", list: [1] })) };
  const server = await startTestServer({ graphs });
  const { body } = await server.request("POST", "/threads", {});
  const { thread_id: threadId } = body as { thread_id: string };
  await server.request("POST", `/threads/${threadId}/runs`, { assistant_id: "plain", input: {} });
  return { ...server, threadId };
}

/** The error of a run of the node, else its status. */
async function messageOf(node: Node, stream_mode: string[] = []): Promise<unknown> {
  const { request, threadId } = await open(node);
  const run = { assistant_id: "odd", input: {}, ...(stream_mode.length > 0 && { stream_mode }) };
  const path = `/threads/${threadId}/runs`;
  if (stream_mode.length > 0) await request("POST", `${path}/stream`, run);
  else await request("POST", path, run);
  const { body } = await request("GET", path);
  const [{ status, error } = {}] = body as { status?: string; error?: string | null }[];
  return status === "error" ? error : status;
}

const NOT_STORED: [what: string, node: Node, message: string][] = [
  [
    "a BigInt",
    () => ({ value: { a: [1n] } }),
    'state key "value" cannot be stored: value.a[0] is a BigInt, which JSON does not support: convert it to a string or a number',
  ],
  [
    "a BigInt in a Map",
    () => ({ value: new Map([["a", 1n]]) }),
    'state key "value" cannot be stored: value.a is a BigInt, which JSON does not support: convert it to a string or a number',
  ],
  [
    "a function",
    () => ({ value: fail }),
    'state key "value" cannot be stored: value is a function, which cannot be serialized',
  ],
  [
    "a symbol",
    () => ({ value: Symbol("a") }),
    'state key "value" cannot be stored: value is a symbol, which cannot be serialized',
  ],
  [
    "a function from a reducer",
    () => ({ broken: 1 }),
    'state key "broken" cannot be stored: broken is a function, which cannot be serialized',
  ],
  [
    "a toJSON that throws",
    () => ({ value: { "a b": { toJSON: fail } } }),
    'state key "value" cannot be stored: value["a b"] has a toJSON that threw Error: no',
  ],
  [
    "a getter that throws",
    () => ({
      value: {
        get a() {
          return fail();
        },
      },
    }),
    'state key "value" cannot be stored: value.a cannot be read: Error: no',
  ],
  [
    "a revoked proxy",
    () => ({ list: [revoked()] }),
    "state key \"list\" cannot be stored: list[0] cannot be read: TypeError: Cannot perform 'get' on a proxy that has been revoked",
  ],
  [
    "600 levels",
    () => ({ value: nested(600) }),
    'state key "value" cannot be stored: value.a.a.a.a.a.a.a.a.a.a.a.a... is nested more than 500 deep',
  ],
  [
    "5,000 levels",
    () => new Command({ update: { value: nested(5000) } }),
    'state key "value" cannot be stored: value.a.a.a.a.a.a.a.a.a.a.a.a... is nested more than 500 deep',
  ],
  [
    "a message class of the project",
    () => ({ value: [new OwnMessage("hello")] }),
    'state key "value" cannot be stored: value would not be read back: Error: Invalid identifer: $ ["langchain_core","messages","OwnMessage"]',
  ],
  [
    "a message that is too deep for LangChain",
    () => ({ value: new HumanMessage({ content: "x", additional_kwargs: { deep: nested(60) } }) }),
    'state key "value" cannot be stored: value would not be read back: Error: Maximum recursion depth (50) exceeded during deserialization. This may indicate a malicious payload or you may need to increase maxDepth.',
  ],
  [
    "the input of a Send",
    () => new Command({ goto: new Send("taken", { value: 1n }) }),
    "the input of a Send cannot be stored: send.args.value is a BigInt, which JSON does not support: convert it to a string or a number",
  ],
  [
    "a question",
    () => ({
      value: interrupt<unknown, unknown>({ lc: 1, type: "constructor", id: ["a", "B"], kwargs: {} }),
    }),
    'the value of interrupt() cannot be stored: interrupt would not be read back: Error: Invalid namespace: $ ["a","B"]',
  ],
  [
    "a store item",
    async (_, { store }) => store?.put(["a"], "it", { at: [1n] }),
    'store item "it" cannot be stored: value.at[0] is a BigInt, which JSON does not support: convert it to a string or a number',
  ],
];

it.each(NOT_STORED)("%s fails the run with an error that names the key", async (_, node, message) => {
  expect(await messageOf(node)).toBe(message);
  expect(await messageOf(node, ["values", "updates"])).toMatch(/cannot be (stored|sent): \S/);
});

it("the thread keeps its state, stores the error and accepts the next run", async () => {
  const { request, threadId } = await open(() => ({ kept: "after", value: 1n }));
  const before = await request("GET", `/threads/${threadId}/state`);
  const path = `/threads/${threadId}/runs`;
  const waited = await request("POST", `${path}/wait`, { assistant_id: "odd", input: {} });
  const message = expect.stringContaining('state key "value" cannot be stored') as string;
  expect(waited.body).toEqual({ __error__: { error: "UnserializableError", message } });
  expect((await request("GET", `/threads/${threadId}`)).body).toMatchObject({
    status: "error",
    error: message,
    values: { kept: "before", list: [1] },
  });
  const history = await request("GET", `/threads/${threadId}/history`);
  expect(history.body).toContainEqual(before.body);
  const next = await request("POST", path, { assistant_id: "plain", input: {} });
  expect(next.body).toMatchObject({ status: "success", error: null });
  expect((await request("GET", `/threads/${threadId}`)).body).toMatchObject({
    status: "idle",
    error: null,
    values: { kept: "before", list: [1, 1] },
  });
});

it.each([
  ["a toJSON that throws", { at: { toJSON: fail } }, "custom.at has a toJSON that threw Error: no"],
  ["5,000 levels", nested(5000), "custom.a.a.a.a.a.a.a.a.a.a.a.a... is nested more than 500 deep"],
  [
    "a revoked proxy",
    revoked(),
    "custom cannot be read: TypeError: Cannot perform 'get' on a proxy that has been revoked",
  ],
])("%s written to the stream ends the stream and the run", async (_, value, why) => {
  const node: Node = (_state, { writer }) => {
    writer?.(value);
    return { kept: "after" };
  };
  expect(await messageOf(node, ["custom"])).toBe(`the output of the run cannot be sent: ${why}`);
  // Without the stream mode `custom`, the value is never serialized.
  expect(await messageOf(node)).toBe("success");
});

it("a node that streams an unserializable value is aborted", async () => {
  let reason: unknown;
  const message = await messageOf(
    async (_, { writer, signal }) => {
      writer?.(revoked());
      await new Promise((resolve) => signal?.addEventListener("abort", resolve));
      reason = signal?.reason;
      return { kept: "after" };
    },
    ["custom"],
  );
  expect(message).toMatch(/^the output of the run cannot be sent: custom/);
  expect(reason).toMatchObject({ message: "what the run yielded could not be stored or sent" });
});

it("a state update that results in an unserializable value is rejected", async () => {
  const { request, threadId } = await open(() => ({}));
  const write = { values: { broken: 1 }, as_node: "node" };
  const { status, body } = await request("POST", `/threads/${threadId}/state`, write);
  expect(status).toBe(422);
  expect(body).toMatchObject({
    detail: 'state key "broken" cannot be stored: broken is a function, which cannot be serialized',
  });
  expect((await request("GET", `/threads/${threadId}/state`)).body).toMatchObject({ values: { list: [1] } });
});

it("values with a JSON representation are stored in that form", async () => {
  const cycle: Record<string, unknown> = { a: 1 };
  cycle.self = cycle;
  const value = {
    cycle,
    date: new Date(0),
    list: [fail, Symbol("a"), NaN, -0, undefined],
    method: fail,
    proto: JSON.parse('{"__proto__": {"a": 1}, "b": 2}') as unknown,
    renewing: renewing(),
    self: {
      c: 3,
      toJSON(): unknown {
        return this;
      },
    },
  };
  const { request, threadId } = await open(() => ({ value }));
  const run = await request("POST", `/threads/${threadId}/runs`, { assistant_id: "odd", input: {} });
  expect(run.body).toMatchObject({ status: "success" });
  const { body } = await request("GET", `/threads/${threadId}/state`);
  expect((body as { values: { value: unknown } }).values.value).toEqual({
    cycle: { a: 1, self: "[Circular]" },
    date: "1970-01-01T00:00:00.000Z",
    list: [null, null, null, 0, null],
    proto: { b: 2 },
    renewing: {},
    self: { c: 3 },
  });
});
