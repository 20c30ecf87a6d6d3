import { describe, expect, it } from "vitest";
import { openTestService } from "../helpers/service.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as steps } from "../fixtures/graphs/steps.js";
import { graph as subgraph } from "../fixtures/graphs/subgraph.js";

const graphs = { steps, chat, subgraph };
const open = (list_all_assistants: boolean, default_assistant_id?: string) =>
  openTestService({
    graphs,
    settings: {
      list_all_assistants,
      assistant_name: "Helper",
      ...(default_assistant_id && { default_assistant_id }),
    },
  });

describe("assistants", () => {
  it("search lists only the default assistant", async () => {
    const { assistants } = await open(false, "chat");
    expect((await assistants.search({})).items.map(({ graph_id }) => graph_id)).toEqual(["chat"]);
    expect(await assistants.count({})).toBe(1);
    const steps = await assistants.get("steps");
    await expect(assistants.get(steps.assistant_id)).rejects.toThrow("does not exist");
  });

  it("search lists every graph when list_all_assistants is set", async () => {
    const { assistants } = await open(true, "chat");
    const { items, total } = await assistants.search({});
    expect(items.map(({ graph_id, name }) => [graph_id, name])).toEqual([
      ["chat", "Helper"],
      ["steps", "steps"],
      ["subgraph", "subgraph"],
    ]);
    expect(total).toBe(3);
    expect(await assistants.count({})).toBe(3);
    expect(await assistants.count({ graph_id: "steps" })).toBe(1);
    expect(new Set(items.map(({ assistant_id }) => assistant_id)).size).toBe(3);
  });

  it("an assistant is found and run by its UUID when list_all_assistants is set", async () => {
    const { assistants, threads, runs } = await open(true);
    const { items } = await assistants.search({ name: "CHA" });
    const [{ assistant_id } = { assistant_id: "" }] = items as { assistant_id: string }[];
    expect((await assistants.get(`urn:uuid:${assistant_id.toUpperCase()}`)).graph_id).toBe("chat");
    const { thread_id } = await threads.create({});
    const input = { messages: [{ role: "user", content: "hi" }] };
    const run = await runs.create(thread_id, { assistant_id, input });
    expect(run).toMatchObject({ status: "success", metadata: { graph_id: "chat", assistant_id } });
  });

  it("search sorts and pages assistants", async () => {
    const { assistants } = await open(true);
    const page = await assistants.search({
      sort_by: "graph_id",
      sort_order: "desc",
      limit: 2,
      select: ["graph_id"],
    });
    expect(page).toEqual({ items: [{ graph_id: "subgraph" }, { graph_id: "steps" }], total: 3, next: 2 });
    const rest = await assistants.search({ sort_by: "graph_id", sort_order: "asc", offset: 2 });
    expect(rest.items.map(({ graph_id }) => graph_id)).toEqual(["subgraph"]);
  });
});

describe("assistants.subgraphs", () => {
  it.each([
    ["child", false, ["child"]],
    ["child", true, ["child"]],
    ["child|leaf", true, ["child|leaf"]],
    ["child|leaf", false, []],
    ["leaf", true, []],
    ["nothing", true, []],
    ["children", true, []],
  ])("namespace %s with recurse %s returns %j", async (namespace, recurse, names) => {
    const { assistants } = await open(false);
    expect(Object.keys(await assistants.subgraphs("subgraph", { namespace, recurse }))).toEqual(names);
  });
});
