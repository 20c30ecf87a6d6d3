/** AG-UI, the protocol of CopilotKit: its adapter requests events, values, updates and messages-tuple in every run. */
import { dispatchCustomEvent } from "@langchain/core/callbacks/dispatch";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { Annotation, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import {
  EventType,
  type BaseEvent,
  type CustomEvent,
  type MessagesSnapshotEvent,
  type StateSnapshotEvent,
} from "@ag-ui/client";
import { LangGraphAgent } from "@ag-ui/langgraph";
import { describe, expect, it, vi } from "vitest";
import { createAgent, humanInTheLoopMiddleware } from "langchain";
import { AGENTS, lookUp } from "../fixtures/agents.js";
import { FakeModel } from "../fixtures/fake-model.js";
import { openClient } from "./open.js";

const CALL = { id: "call-1", name: "look_up", args: { at: "the old oak" } };

/** Calls the tool on "look" and reports its result; otherwise replies with the number of human messages. */
const model = () =>
  new FakeModel((messages: BaseMessage[]) => {
    const last = messages.at(-1);
    if (last?.type === "tool") return last.text;
    if (last?.text === "look") return { text: "", toolCalls: [CALL] };
    return `heard ${messages.filter(({ type }) => type === "human").length} of them`;
  });

const asking = () =>
  createAgent({
    model: model(),
    tools: [lookUp],
    middleware: [humanInTheLoopMiddleware({ interruptOn: { look_up: true } })],
  }).graph;

interface Recipe {
  title: string;
  steps: string[];
}

/** Adds two steps to the recipe that the client sent, the second after an answer if the title is a question. */
const cook = () =>
  new StateGraph(Annotation.Root({ ...MessagesAnnotation.spec, recipe: Annotation<Recipe> }))
    .addNode("chop", async ({ recipe }) => {
      const chopped = { ...recipe, steps: [...recipe.steps, `chop for ${recipe.title}`] };
      // CopilotKit's `copilotkitEmitState`: the state before the node has ended.
      await dispatchCustomEvent("manually_emit_state", { recipe: { ...chopped, title: "chopping" } });
      return { recipe: chopped };
    })
    .addNode("boil", ({ recipe }) => {
      const step = recipe.title.endsWith("?") ? `boil: ${String(interrupt("how long?"))}` : "boil";
      return { recipe: { ...recipe, steps: [...recipe.steps, step] }, messages: [new AIMessage("done")] };
    })
    .addEdge(START, "chop")
    .addEdge("chop", "boil")
    .compile();

/** An AG-UI agent in front of a served graph. */
async function open(graph: unknown) {
  const { server, client } = await openClient({
    graphs: { agent: graph },
    settings: { compat: "langgraph" },
  });
  const agent = new LangGraphAgent({
    deploymentUrl: server.url,
    graphId: "agent",
    threadId: crypto.randomUUID(),
  });
  const run = async (parameters: object = {}): Promise<BaseEvent[]> => {
    const events: BaseEvent[] = [];
    await agent.runAgent(parameters, { onEvent: ({ event }) => void events.push(event) });
    return events;
  };
  const say = (content: string) => {
    agent.addMessage({ id: crypto.randomUUID(), role: "user", content });
    return run();
  };
  return { agent, client, run, say };
}

const typesOf = (events: readonly BaseEvent[]): string[] => events.map(({ type }) => type);

const textOf = (events: readonly BaseEvent[]): string =>
  events
    .filter(({ type }) => type === EventType.TEXT_MESSAGE_CONTENT)
    .map((event) => (event as BaseEvent & { delta: string }).delta)
    .join("");

const recipesOf = (events: readonly BaseEvent[]): unknown[] =>
  events
    .filter(({ type }) => type === EventType.STATE_SNAPSHOT)
    .map((event) => ((event as StateSnapshotEvent).snapshot as { recipe?: unknown }).recipe);

describe("AG-UI under compat langgraph", () => {
  it.each(["createAgent", "deepagents", "humanInTheLoopMiddleware"] as const)(
    "chats over two turns with %s",
    async (kind) => {
      const { agent, say } = await open(AGENTS[kind](model()));
      const first = await say("hello");
      expect(typesOf(first).at(-1)).toBe(EventType.RUN_FINISHED);
      expect(textOf(first)).toBe("heard 1 of them");
      expect(textOf(await say("again"))).toBe("heard 2 of them");
      expect(agent.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    },
  );

  it("reports a tool call with its arguments and result", async () => {
    const { say } = await open(AGENTS.summarizationMiddleware(model()));
    const events = await say("look");
    expect(typesOf(events).filter((type) => type.startsWith("TOOL_CALL"))).toEqual([
      EventType.TOOL_CALL_START,
      EventType.TOOL_CALL_END,
      EventType.TOOL_CALL_RESULT,
    ]);
    const snapshot = events.find(({ type }) => type === EventType.MESSAGES_SNAPSHOT);
    expect((snapshot as MessagesSnapshotEvent).messages).toMatchObject([
      { role: "user" },
      {
        role: "assistant",
        toolCalls: [{ function: { name: "look_up", arguments: JSON.stringify(CALL.args) } }],
      },
      { role: "tool", content: "found at the old oak" },
      { role: "assistant", content: "found at the old oak" },
    ]);
  });

  it("reports an interrupt and resumes with the answer", async () => {
    const { agent, client, run, say } = await open(asking());
    const events = await say("look");
    const asked = events.find(({ type }) => type === EventType.CUSTOM) as CustomEvent | undefined;
    expect(asked).toMatchObject({ name: "on_interrupt" });
    expect(JSON.stringify(asked?.value)).toContain("look_up");
    expect(await client.threads.get(agent.threadId)).toMatchObject({ status: "interrupted" });
    // CopilotKit 1.60 resumes this way; the adapter warns that it is deprecated.
    vi.spyOn(console, "warn").mockReturnValue();
    const resumed = await run({
      forwardedProps: { command: { resume: { decisions: [{ type: "approve" }] } } },
    });
    expect(typesOf(resumed).at(-1)).toBe(EventType.RUN_FINISHED);
    expect(textOf(resumed)).toBe("found at the old oak");
    expect(await client.threads.get(agent.threadId)).toMatchObject({ status: "idle" });
  });

  it("shares the state of the client with the graph, and that of the graph with the client", async () => {
    const { agent, client, say } = await open(cook());
    const recipeOf = async () =>
      (await client.threads.getState<{ recipe: Recipe }>(agent.threadId)).values.recipe;
    agent.setState({ recipe: { title: "soup", steps: [] } });
    const shown = recipesOf(await say("cook"));
    expect(shown).toContainEqual({ title: "chopping", steps: ["chop for soup"] });
    expect(shown.at(-1)).toEqual({ title: "soup", steps: ["chop for soup", "boil"] });
    expect(await recipeOf()).toEqual(shown.at(-1));
    expect((agent.state as { recipe: Recipe }).recipe).toEqual(shown.at(-1));
    // The user edits the state that both share.
    agent.setState({ ...agent.state, recipe: { title: "stew", steps: ["wash"] } });
    const last = recipesOf(await say("again")).at(-1);
    expect(last).toEqual({ title: "stew", steps: ["wash", "chop for stew", "boil"] });
    expect(await recipeOf()).toEqual(last);
  });

  it("keeps the shared state over an interrupt", async () => {
    const { agent, client, run, say } = await open(cook());
    agent.setState({ recipe: { title: "soup?", steps: [] } });
    const asked = recipesOf(await say("cook")).at(-1);
    expect(asked).toEqual({ title: "soup?", steps: ["chop for soup?"] });
    vi.spyOn(console, "warn").mockReturnValue();
    const last = recipesOf(await run({ forwardedProps: { command: { resume: "an hour" } } })).at(-1);
    expect(last).toEqual({ title: "soup?", steps: ["chop for soup?", "boil: an hour"] });
    const { values } = await client.threads.getState<{ recipe: Recipe }>(agent.threadId);
    expect(values.recipe).toEqual(last);
  });
});
