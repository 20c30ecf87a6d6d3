/** Tool names, and the input schema of graphs that do not take an object. */
import { describe, expect, it } from "vitest";
import { toolNames } from "../../src/mcp/tools.js";
import { graph as functional } from "../fixtures/graphs/functional.js";
import { startTestServer } from "../helpers/app.js";
import { connectHttp } from "./client.js";
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";

describe("MCP tool names", () => {
  it("tools are named after graphs, with invalid characters replaced and names kept unique", () => {
    const long = "x".repeat(80);
    const { graphs, resume } = toolNames(["agent", "my agent", "my.agent", "größe", long, `${long}y`]);
    expect([...graphs.keys()]).toEqual([
      "agent",
      "my_agent",
      "my_agent_2",
      "gr__e",
      "x".repeat(64),
      `${"x".repeat(62)}_2`,
    ]);
    expect(resume).toBe("resume_thread");
  });

  it("resume_thread is renamed when a graph has that name", () => {
    expect(toolNames(["resume_thread"])).toEqual({
      graphs: new Map([["resume_thread", "resume_thread"]]),
      resume: "resume_thread_2",
    });
  });
});

describe("MCP tool input", () => {
  it("a graph without an object schema takes a single input argument", async () => {
    const { url } = await startTestServer({ graphs: { functional }, settings: { mcp: true } });
    const client = await connectHttp(url);
    const [tool] = (await client.client.listTools()).tools;
    expect(tool?.inputSchema).toMatchObject({
      properties: { input: {}, thread_id: {} },
      required: ["input"],
    });
    const direct = await client.call("functional", { input: { n: 4 } });
    expect(direct.isError).toBeUndefined();
    expect(direct.data.output).toEqual({ data: "twice is 8" });
  });

  it("a graph with its own thread_id key still receives it", async () => {
    const State = Annotation.Root({ thread_id: Annotation<string>, seen: Annotation<string> });
    const own = new StateGraph(State)
      .addNode("see", ({ thread_id }) => ({ seen: thread_id }))
      .addEdge(START, "see")
      .addEdge("see", END)
      .compile();
    const { url } = await startTestServer({ graphs: { own }, settings: { mcp: true } });
    const client = await connectHttp(url);
    const first = await client.call("own", { thread_id: "mine" });
    expect(first.data.output).toMatchObject({ seen: "mine" });
    const { thread_id: _thread_id } = first.data;
    expect((await client.call("own", { thread_id: "other", _thread_id })).data.thread_id).toBe(_thread_id);
  });
});
