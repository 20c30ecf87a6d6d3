/** Threads that are hard to copy between storages, and the checks that every storage must pass. */
import { AIMessage } from "@langchain/core/messages";
import { Annotation, END, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { expect } from "vitest";
import { openService } from "../../src/service/open.js";
import type { Service } from "../../src/service/service.js";
import type { StoragePlace } from "../../src/service/migration.js";
import type { Settings } from "../../src/config/settings.js";

const log = () => Annotation<string[]>({ reducer: (before, more) => before.concat(more), default: () => [] });
const State = Annotation.Root({ log: log() });

const chat = new StateGraph(MessagesAnnotation)
  .addNode("reply", ({ messages }) => ({
    messages: [new AIMessage(`echo: ${messages.at(-1)?.text ?? ""}`)],
  }))
  .addEdge(START, "reply")
  .addEdge("reply", END)
  .compile();

const inner = new StateGraph(State)
  .addNode("ask", () => ({ log: [`answer ${String(interrupt("inner?"))}`] }))
  .addEdge(START, "ask")
  .addEdge("ask", END)
  .compile();
const nested = new StateGraph(State)
  .addNode("child", inner)
  .addEdge(START, "child")
  .addEdge("child", END)
  .compile();

/** Whether the failing half fails. */
export const trouble = { active: true };
/** One half succeeds; its writes stay pending next to the error of the other half. */
const halves = new StateGraph(State)
  .addNode("good", () => ({ log: ["good"] }))
  .addNode("bad", () => {
    if (trouble.active) throw new RangeError("kaboom");
    return { log: ["mended"] };
  })
  .addEdge(START, "good")
  .addEdge(START, "bad")
  .compile();

const steps = new StateGraph(State)
  .addNode("one", () => ({ log: ["one"] }))
  .addNode("two", () => ({ log: ["two"] }))
  .addEdge(START, "one")
  .addEdge("one", "two")
  .addEdge("two", END)
  .compile();

const GRAPHS = { chat, nested, halves, steps };

/** Opens a service on the storage for the duration of `work`. */
export async function onStorage<T>(
  place: StoragePlace,
  work: (service: Service) => Promise<T>,
  more: Partial<Settings> = {},
): Promise<T> {
  const { cwd, ...settings } = place;
  const service = await openService({ graphs: GRAPHS, settings: { ...settings, ...more }, cwd });
  try {
    return await work(service);
  } finally {
    await service.close(0);
  }
}

/** Ids of the threads. */
export type Travellers = Record<"chat" | "nested" | "halves" | "forked" | "empty", string>;

export const NAMESPACE = ["users", "ada"];

export async function makeTravellers({ threads, runs, state, store }: Service): Promise<Travellers> {
  const create = async (metadata: object = {}, ttl?: number) =>
    (await threads.create({ metadata: { ...metadata }, ...(ttl !== undefined && { ttl }) })).thread_id;
  const ids = {
    chat: await create({ title: "ünïcode \u2028", deep: { list: [1, null, { a: "b" }] } }, 90.5),
    nested: await create(),
    halves: await create(),
    forked: await create(),
    empty: await create({ note: "never ran" }, 60),
  };
  const user = (content: string) => ({ messages: [{ role: "user", content }] });
  for (const text of ["hello", "again"])
    await runs.create(ids.chat, { assistant_id: "chat", input: user(text) });
  await runs.create(ids.nested, { assistant_id: "nested", input: { log: ["in"] } });
  await runs.create(ids.halves, { assistant_id: "halves", input: { log: ["in"] } });
  await runs.create(ids.forked, { assistant_id: "steps", input: { log: ["in"] } });
  const past = await state.history(ids.forked, { limit: 10 });
  const early = past.find(({ next }) => next.includes("one"))?.checkpoint;
  // A branch with channel versions that continue from those of the first branch.
  await state.update(ids.forked, {
    values: { log: ["edited"] },
    as_node: "one",
    checkpoint: early ?? undefined,
  });
  await store.put({ namespace: NAMESPACE, key: "k", value: { colour: "blue" }, ttl: 45 });
  await store.put({ namespace: ["users"], key: "plain", value: { n: 1 } });
  return ids;
}

/** Everything that a storage shows of the threads; equal in every storage. */
export async function portraits(service: Service, ids: Travellers): Promise<unknown> {
  const shown: Record<string, unknown> = {};
  for (const [name, id] of Object.entries(ids)) {
    const history = await service.state.history(id, { limit: 100 });
    shown[name] = {
      thread: await service.threads.get(id),
      runs: await service.runs.list(id, { limit: 100, offset: 0 }),
      history,
      state: await service.state.get(id, { subgraphs: true }),
    };
  }
  const items = await service.store.search({ namespace_prefix: [], limit: 10, offset: 0 });
  return JSON.parse(JSON.stringify({ shown, items }));
}

/** Resumes the interrupted and failed runs, and checks that the branches are unchanged. */
export async function goOn({ runs, state }: Service, ids: Travellers): Promise<void> {
  const logOf = async (id: string, checkpoint?: object) =>
    ((await state.get(id, { checkpoint })).values as { log: string[] }).log;
  await runs.create(ids.nested, { assistant_id: "nested", command: { resume: "yes" } });
  expect((await logOf(ids.nested)).at(-1)).toBe("answer yes");
  trouble.active = false;
  try {
    await runs.create(ids.halves, { assistant_id: "halves", input: null });
  } finally {
    trouble.active = true;
  }
  // The successful half is not run again: its writes were copied.
  expect((await logOf(ids.halves)).sort()).toEqual(["good", "in", "mended"]);
  expect(await logOf(ids.forked)).toEqual(["in", "edited"]);
  await runs.create(ids.forked, { assistant_id: "steps", input: null });
  expect(await logOf(ids.forked)).toEqual(["in", "edited", "two"]);
  const input = { messages: [{ role: "user", content: "third" }] };
  await runs.create(ids.chat, { assistant_id: "chat", input });
  expect(((await state.get(ids.chat)).values as { messages: unknown[] }).messages).toHaveLength(6);
}
