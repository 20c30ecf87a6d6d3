/** A deploy renames a node while a thread waits in it: every way to resume the thread is refused. */
import { AgentCard, Role } from "@a2a-js/sdk";
import { ClientFactory, JsonRpcTransportFactory } from "@a2a-js/sdk/client";
import { describe, expect, it } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import { joined, release, type Stop } from "../fixtures/graphs/releases.js";
import { startTestServer } from "../helpers/app.js";
import { keptStorage, MEMORY } from "../helpers/backends.js";
import { answerOf, deploy, logOf, RUN, stopped, waited } from "../helpers/deploys.js";
import { command } from "../helpers/thread-events.js";
import { connectHttp } from "../mcp/client.js";
import { now } from "../../src/storage/rows/rows.js";
import { newId } from "../../src/support/ids.js";

describe("other ways to resume a thread whose node was renamed", () => {
  async function renamed(settings: Partial<Settings> = {}, stop: Stop = "interrupt") {
    const storage = await keptStorage(MEMORY);
    const first = await deploy(storage, release(stop, "none"));
    const thread = await stopped(first, stop);
    const { body } = await first.request("GET", `/threads/${thread}/state`);
    const { checkpoint, interrupts } = body as { checkpoint: object; interrupts: { id: string }[] };
    const second = await deploy(storage, release(stop, "renamed"), settings);
    return { storage, first, second, thread, checkpoint, id: interrupts[0]?.id ?? "" };
  }
  const CHANGED = { status: 409, body: { code: "graph_changed" } };

  it.each([
    ["without input", { input: null }],
    ["with a goto", { command: { goto: "question" } }],
    ["with an update", { command: { update: { log: ["x"] } } }],
    ["with strict_resume", { command: { resume: "yes" }, strict_resume: true }],
    ["with an empty answer", { command: { resume: "" } }],
  ])("%s, the run is refused", async (_, body) => {
    const { second, thread } = await renamed();
    for (const way of ["", "/wait", "/stream"])
      expect(
        await second.request("POST", `/threads/${thread}/runs${way}`, { assistant_id: "agent", ...body }),
      ).toMatchObject(CHANGED);
    expect(await logOf(second, thread)).toEqual(["first"]);
  });

  it("from a checkpoint, the run is refused, and from one before the node it is not", async () => {
    const { second, thread, checkpoint } = await renamed();
    const body = { assistant_id: "agent", input: null };
    expect(await waited(second, thread, { ...body, checkpoint })).toMatchObject(CHANGED);
    const history = (await second.request("POST", `/threads/${thread}/history`, {})).body as {
      next: string[];
      checkpoint: object;
    }[];
    const before = history.find(({ next }) => next.includes("first"));
    expect(await waited(second, thread, { ...body, checkpoint: before?.checkpoint })).toMatchObject({
      status: 200,
    });
    expect((await second.request("GET", `/threads/${thread}`)).body).toMatchObject({ status: "interrupted" });
  });

  it("the commands of the newer protocol are refused, and the answer names the node", async () => {
    const { second, thread, id } = await renamed();
    const answers = [
      await command(second, thread, "input.respond", { namespace: [], interrupt_id: id, response: "yes" }),
      await command(second, thread, "run.start", { assistant_id: "agent", input: { log: ["yes"] } }),
    ];
    for (const answer of answers)
      expect(answer).toMatchObject({
        type: "error",
        error: "invalid_argument",
        message: expect.stringContaining('node "ask"') as string,
      });
    expect(await logOf(second, thread)).toEqual(["first"]);
  });

  it("on a thread that another served graph has written to, input is accepted by every protocol", async () => {
    const { storage, thread } = await renamed();
    const graphs = { agent: release("interrupt", "renamed"), other: release("interrupt", "none") };
    const both = await startTestServer({ graphs, storage });
    const params = { assistant_id: "agent", input: { log: ["yes"] } };
    expect(await command(both, thread, "run.start", params)).toMatchObject({ type: "error" });
    await storage.threads.update(thread, { updated_at: now(), graphs: ["agent", "other"] });
    expect(await command(both, thread, "run.start", params)).toMatchObject({ type: "success" });
    expect(await waited(both, thread, RUN)).toMatchObject({ status: 200 });
  });

  it("an answer over the Model Context Protocol is refused", async () => {
    const { second, thread } = await renamed({ mcp: true });
    const { client } = await connectHttp(second.url);
    const call = { name: "resume_thread", arguments: { thread_id: thread, answer: "yes" } };
    const refused = await client.callTool(call).catch((error: unknown) => error);
    expect(JSON.stringify(refused) + String(refused)).toContain("has changed since thread");
    expect(await logOf(second, thread)).toEqual(["first"]);
  });

  it("an answer over the Agent2Agent protocol is refused", async () => {
    const settings = { a2a: true };
    const { storage, first, thread } = await renamed(settings);
    const agent = await deploy(storage, release("interrupt", "renamed"), settings);
    const [run] = await first.service.runs.list(thread, {});
    const card = await agent.request("GET", "/a2a/agent/.well-known/agent-card.json");
    const client = await new ClientFactory({
      transports: [new JsonRpcTransportFactory()],
    }).createFromAgentCard(AgentCard.fromJSON(card.body));
    const part = {
      content: { $case: "text", value: "yes" } as const,
      metadata: undefined,
      filename: "",
      mediaType: "",
    };
    const message = {
      ...{ messageId: newId(), contextId: thread, taskId: `${thread}:${run?.run_id}`, role: Role.ROLE_USER },
      ...{ parts: [part], metadata: undefined, extensions: [], referenceTaskIds: [] },
    };
    const request = { tenant: "", message, configuration: undefined, metadata: undefined };
    await expect(client.sendMessage(request)).rejects.toThrow("has changed since thread");
    expect(await logOf(agent, thread)).toEqual(["first"]);
  });

  it("new input is accepted, and the log names the node that it drops", async () => {
    const { second, thread } = await renamed();
    expect(await waited(second, thread, RUN)).toMatchObject({ status: 200 });
    expect(second.logger.of("warn")).toContain(
      "the graph has changed: new input drops ask, which the thread waited for",
    );
  });

  it.each([{ compat: "langgraph" }, { on_graph_changed: "drop" }] as const)(
    "with %o, the node is skipped with a warning",
    async (settings) => {
      const { defaultSettings } = await import("../../src/config/settings.js");
      const { second, thread } = await renamed({ ...defaultSettings(settings), ...settings });
      expect(await waited(second, thread, answerOf("interrupt"))).toMatchObject({ status: 200 });
      expect(second.logger.of("warn")).toContain(
        "the graph has changed: the run skips ask (on_graph_changed: drop)",
      );
    },
  );
});

describe("an edge with several starts changes while one of them waits", () => {
  async function changed(change: "separate" | "third") {
    const storage = await keptStorage(MEMORY);
    const first = await deploy(storage, joined("none"));
    const thread = await stopped(first, "interrupt");
    const second = await deploy(storage, joined(change));
    return { second, thread };
  }

  it("the answer is refused if the new edge would wait for a start that has ended", async () => {
    const { second, thread } = await changed("third");
    const { status, text } = await waited(second, thread, answerOf("interrupt"));
    expect(status).toBe(409);
    expect(text).toContain('the edge to node \\"join\\"');
  });

  it("the answer is accepted if each start leads to the node", async () => {
    const { second, thread } = await changed("separate");
    expect(await waited(second, thread, answerOf("interrupt"))).toMatchObject({ status: 200 });
    expect(await logOf(second, thread)).toContain("join");
  });
});
