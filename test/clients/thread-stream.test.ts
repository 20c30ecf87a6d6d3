/** `client.threads.stream()` of the SDK, and `RemoteGraph.streamEvents` version 3, which builds on it. */
import { RemoteGraph } from "@langchain/langgraph/remote";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { graph as agent } from "../fixtures/graphs/agent.js";
import { gateOf } from "../fixtures/gates.js";
import { graphs, openClient, says } from "./open.js";

type Client = Awaited<ReturnType<typeof openClient>>["client"];

const openAgents = () => openClient({ graphs: { ...graphs, agent } });

const webSocketFactory = (url: string) => new WebSocket(url) as never;

/** Both transports of the SDK. */
const WAYS = [
  ["server-sent events", {}],
  ["a WebSocket", { transport: "websocket", webSocketFactory }],
] as const;

const streamOf = (client: Client, assistantId: string, options: object = {}, threadId?: string) => {
  const given = { assistantId, ...options };
  return threadId === undefined ? client.threads.stream(given) : client.threads.stream(threadId, given);
};

describe.each(WAYS)("a thread over %s", (_, way) => {
  it("yields growing messages and the final state", async () => {
    const { client } = await openAgents();
    const thread = streamOf(client, "chat", way);
    const texts: string[] = [];
    const reading = (async () => {
      for await (const message of thread.messages)
        for await (const text of message.text) texts.push(String(text));
    })();
    await thread.run.start({ input: says("one two") });
    const values = (await thread.output) as { messages: { content: unknown }[] };
    await reading;
    expect(texts).toEqual(["You", " said:", " one", " two"]);
    expect(values.messages.map(({ content }) => content)).toEqual(["one two", "You said: one two"]);
    await thread.close();
  });

  it("reports an interrupt and continues after the answer", async () => {
    const { client } = await openAgents();
    const thread = streamOf(client, "hitl", way);
    const lifecycle = await thread.subscribe(["lifecycle", "input"] as never);
    await thread.run.start({ input: { topic: "tea" } });
    for await (const event of lifecycle) void event;
    expect(thread.interrupted).toBe(true);
    const [{ interruptId, namespace } = { interruptId: "", namespace: [] }] = thread.interrupts;
    await thread.input.respond({ namespace, interrupt_id: interruptId, response: "yes" });
    await expect
      .poll(async () => (await client.threads.getState<{ answer: string }>(thread.threadId)).values.answer)
      .toBe("yes");
    await thread.close();
  });

  it("is joined during a run and left without ending the run", async () => {
    const { client } = await openAgents();
    const first = streamOf(client, "gate", way);
    await first.run.start({ input: { gate: `joined over ${_}` } });
    await gateOf(`joined over ${_}`).entered;
    await first.close();
    const second = streamOf(client, "gate", way, first.threadId);
    const updates = await second.subscribe(["updates", "lifecycle"] as never);
    gateOf(`joined over ${_}`).open();
    const nodes: unknown[] = [];
    for await (const event of updates as AsyncIterable<{ method: string; params: { node?: string } }>)
      if (event.method === "updates") nodes.push(event.params.node);
    expect(nodes).toEqual(["before", "wait", "after"]);
    await second.close();
  });

  it("yields tool calls", async () => {
    const { client } = await openAgents();
    const thread = streamOf(client, "agent", way);
    const calls: unknown[] = [];
    const reading = (async () => {
      for await (const call of thread.toolCalls) calls.push([call.name, await call.output]);
    })();
    await thread.run.start({ input: says("2 and 3?") });
    await thread.output;
    await reading;
    // This SDK yields a call both when it begins and when it ends.
    expect(new Set(calls.map((call) => JSON.stringify(call)))).toEqual(new Set(['["add","5"]']));
    await thread.close();
  });
});

describe("a RemoteGraph", () => {
  it("streams events of version 3", async () => {
    const { server, client } = await openAgents();
    const remote = new RemoteGraph({ graphId: "gate", url: server.url });
    const { thread_id } = await client.threads.create();
    const config = { version: "v3", configurable: { thread_id } };
    const run = await (remote as unknown as StreamsEvents).streamEvents({ gate: "remote" }, config);
    const methods = new Set<string>();
    for await (const { method } of run) {
      methods.add(method);
      // The SDK does not wait for requests made after the end of the run, so the gate opens during the stream.
      gateOf("remote").open();
    }
    expect([...methods].sort()).toEqual(["checkpoints", "lifecycle", "tasks", "updates", "values"]);
    expect(await run.output).toMatchObject({ log: ["before remote", "waited remote", "after remote"] });
  });
});

interface StreamsEvents {
  streamEvents(
    input: unknown,
    config: object,
  ): Promise<AsyncIterable<{ method: string }> & { output: Promise<unknown> }>;
}
