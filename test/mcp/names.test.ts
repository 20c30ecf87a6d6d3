/** Names of tools, and their input where a graph takes no object. */
import { describe, expect, it } from "vitest";
import { toolNames } from "../../src/mcp/tools.js";
import { graph as functional } from "../fixtures/graphs/functional.js";
import { startTestServer } from "../helpers/app.js";
import { connectHttp } from "./client.js";
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";

describe("names", () => {
  it("are those of the graphs, as far as clients take them", () => {
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

  it("give way to a graph that has the name of a tool", () => {
    expect(toolNames(["resume_thread"])).toEqual({
      graphs: new Map([["resume_thread", "resume_thread"]]),
      resume: "resume_thread_2",
    });
  });
});

describe("input", () => {
  it("is one argument where a graph takes anything", async () => {
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

  it("keeps a key thread_id of the graph's own", async () => {
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
