/** Calls every HTTP route that returns data of a graph. */
import { gateOf } from "../../fixtures/gates.js";
import type { Walked } from "./graphs.js";
import { type CommandBody, isLast } from "../../helpers/thread-events.js";
import { FINE, leaksIn } from "./mark.js";
import type { Walker } from "./walker.js";

const MODES = [
  "values",
  "updates",
  "messages",
  "messages-tuple",
  "custom",
  "events",
  "debug",
  "tasks",
  "checkpoints",
  "tools",
] as const;

/** All modes that any graph supports: `events` is rejected for graphs with hidden keys. */
const EVERYTHING = MODES.filter((mode) => mode !== "events");

const UNKNOWN_ID = "0197f0a0-0000-7000-8000-00000000dead";
const resume = { command: { resume: FINE } };

async function newThread(walker: Walker, id: string): Promise<string> {
  const { body } = await walker.ask("POST /threads", { metadata: { graph_id: id } });
  return `/threads/${(body as { thread_id: string }).thread_id}`;
}

/** Routes that describe the graph itself. */
export async function walkAssistant(walker: Walker, { id }: Walked): Promise<void> {
  const { ask } = walker;
  await ask("POST /assistants/search", { graph_id: id });
  await ask("POST /assistants/count", { graph_id: id });
  for (const path of ["", "/schemas", "/graph", "/graph?xray=true", "/subgraphs", "/subgraphs?recurse=true"])
    await ask(`GET /assistants/${id}${path}`);
  for (const namespace of ["child", "child%7Cleaf", "call"])
    await ask(`GET /assistants/${id}/subgraphs/${namespace}?recurse=true`);
  const { assistant_id } = (await ask("POST /assistants", { graph_id: id })).body as { assistant_id: string };
  const assistant = `/assistants/${assistant_id}`;
  await ask(`PATCH ${assistant}`, { name: "walked" });
  for (const path of ["", "/schemas", "/graph", "/subgraphs"]) await ask(`GET ${assistant}${path}`);
  await ask(`POST ${assistant}/versions`, {});
  await ask(`POST ${assistant}/latest`, { version: 1 });
  await ask(`DELETE ${assistant}`);
}

/** Streams in each mode and in all modes together: up to the interrupt, after the resume, and stateless. */
export async function walkStreams(walker: Walker, { id, input }: Walked): Promise<void> {
  const { ask } = walker;
  const alone = MODES.map((mode) => [mode]);
  for (const stream_subgraphs of [false, true]) {
    for (const stream_mode of [...alone, EVERYTHING, MODES]) {
      const thread = await newThread(walker, id);
      const options = { assistant_id: id, stream_mode, stream_subgraphs };
      await ask(`POST ${thread}/runs/stream`, { ...options, input });
      await ask(`POST ${thread}/runs/stream`, { ...options, ...resume });
      if (stream_mode.length > 1) await ask("POST /runs/stream", { ...options, input });
    }
  }
}

/** Waited runs, with threads and stateless. */
export async function walkAnswers(walker: Walker, { id, input }: Walked): Promise<void> {
  const { ask } = walker;
  const thread = await newThread(walker, id);
  await ask(`POST ${thread}/runs/wait`, { assistant_id: id, input });
  await ask(`POST ${thread}/runs/wait`, { assistant_id: id, ...resume });
  await ask("POST /runs/wait", { assistant_id: id, input });
  const everything = { stream_mode: EVERYTHING, stream_subgraphs: true };
  const { body } = await ask("POST /runs", { assistant_id: id, input, on_completion: "keep", ...everything });
  await ask("POST /runs/batch", [{ assistant_id: id, input }]);
  const { run_id } = body as { run_id: string };
  await ask(`GET /runs/${run_id}/stream`, undefined, { "last-event-id": "-1" });
}

/** Joins a run while it waits at a gate, and in every way after it ended. */
export async function walkJoins(walker: Walker, { id, input }: Walked): Promise<void> {
  const { ask } = walker;
  const thread = await newThread(walker, id);
  const gate = `no-leaks ${thread}`;
  const request = {
    assistant_id: id,
    input,
    config: { configurable: { gate } },
    stream_mode: EVERYTHING,
    stream_subgraphs: true,
  };
  const { body } = await ask(`POST ${thread}/runs`, request, { prefer: "respond-async" });
  const run = `${thread}/runs/${(body as { run_id: string }).run_id}`;
  const live = [
    await walker.begin(`GET ${run}/stream`, { "last-event-id": "-1" }),
    await walker.begin(`GET ${run}/stream?stream_mode=messages&stream_mode=updates`),
  ];
  gateOf(gate).open();
  for (const rest of live) await rest();
  await ask(`GET ${run}/join`);
  for (const id of ["-1", "3", "1000000"]) await ask(`GET ${run}/stream`, undefined, { "last-event-id": id });
  for (const mode of MODES) await ask(`GET ${run}/stream?stream_mode=${mode}`);
  await ask(`POST ${run}/cancel?wait=1`);
  await ask("POST /runs/cancel", { thread_id: thread.slice(9) });
  await ask(`POST ${run}/redrive`);
  await ask("GET /runs/dead");
  await ask(`DELETE ${run}`);
}

/** Thread events and commands: a run, its resume, and reads after each. */
export async function walkEvents(walker: Walker, { id, input }: Walked): Promise<void> {
  const thread = await newThread(walker, id);
  const events = await walker.follow(thread);
  const command = async (method: string, params: object) =>
    (await walker.ask(`POST ${thread}/commands`, { id: 1, method, params })).body as CommandBody;
  const ran = async (method: string, params: object) => {
    const { result } = await command(method, params);
    await events.until(isLast(result.run_id));
  };
  await ran("run.start", { assistant_id: id, input });
  const asked = events.events.find(({ method }) => method === "input.requested");
  if (asked) {
    const { namespace, data } = asked.params;
    await ran("input.respond", { namespace, interrupt_id: data.interrupt_id, response: FINE });
  }
  for (const namespace of new Set(events.events.map(({ params }) => params.namespace.join("|"))))
    await command("state.get", { namespace: namespace.split("|").filter(Boolean) });
  await command("agent.getTree", {});
  await walker.ask(`GET ${thread}/stream/events`);
  events.close();
  walker.look("events", events.text);
  await walker.joined(thread);
}

/** Reads an interrupted and a finished thread in every way, and a copy of each. */
export async function walkThread(walker: Walker, walked: Walked): Promise<void> {
  const { ask } = walker;
  const { id, input } = walked;
  const thread = await newThread(walker, id);
  const options = { assistant_id: id, stream_mode: "values", stream_subgraphs: true };
  for (const turn of [{ input }, resume]) {
    await ask(`POST ${thread}/runs/stream`, { ...options, ...turn });
    await readThread(walker, thread, walked);
    const { status, body } = await ask(`POST ${thread}/copy`);
    if (status !== 200) continue;
    const copy = `/threads/${(body as { thread_id: string }).thread_id}`;
    await readThread(walker, copy, walked);
    await ask(`DELETE ${copy}`);
  }
}

async function readThread(walker: Walker, thread: string, { id, hidden = {} }: Walked): Promise<void> {
  const { ask } = walker;
  await ask(`GET ${thread}`);
  await ask(`GET ${thread}/version`);
  await ask(`PATCH ${thread}`, { metadata: { seen: true } });
  const [run] = (await ask(`GET ${thread}/runs`)).body as { run_id: string }[];
  if (run) for (const path of ["", "/tasks"]) await ask(`GET ${thread}/runs/${run.run_id}${path}`);
  await ask("POST /runs/search", { thread_id: thread.slice(9) });
  for (const namespace of ["", ...walker.namespaces]) await readNamespace(walker, thread, namespace);
  const ids = [thread.slice(9)];
  await ask("POST /threads/search", { ids, extract: { all: "values", asked: "interrupts" } });
  for (const [key, value] of Object.entries(hidden)) {
    for (const query of leaksIn(JSON.stringify(value))) {
      const found = (await ask("POST /threads/search", { ids, query, select: ["status"] })).body as unknown[];
      const { body: count } = await ask("POST /threads/count", { ids, query });
      if (found.length > 0 || count !== 0)
        walker.sights.add(`search for text of ${key} in ${id} finds a hidden value`);
    }
    await ask("POST /threads/search", { ids, select: ["status"], extract: { x: `values.${key}` } });
    for (const values of [{ [key]: value }, { data: { [key]: value } }]) {
      const found = (await ask("POST /threads/search", { ids, values })).body as unknown[];
      const { body: count } = await ask("POST /threads/count", { ids, values });
      if (found.length > 0 || count !== 0)
        walker.sights.add(`search of ${id} by ${key} finds a hidden value`);
    }
  }
}

async function readNamespace(walker: Walker, thread: string, checkpoint_ns: string): Promise<void> {
  const { ask } = walker;
  if (checkpoint_ns === "") {
    await ask(`GET ${thread}/state`);
    await ask(`GET ${thread}/state?subgraphs=true`);
    await ask(`GET ${thread}/history?limit=1000`);
    await ask(`POST ${thread}/history`, { limit: 100, metadata: { source: "loop" } });
    await ask(`POST ${thread}/history`, { limit: 100, select: ["changed_keys", "changed_messages"] });
    await ask(`GET ${thread}/history?limit=2&before=${UNKNOWN_ID}`);
  }
  const { body } = await ask(`POST ${thread}/history`, { limit: 100, checkpoint: { checkpoint_ns } });
  for (const { checkpoint } of body as { checkpoint: { checkpoint_id: string } | null }[]) {
    if (checkpoint === null) continue;
    await ask(`POST ${thread}/history`, { limit: 1, before: checkpoint, checkpoint: { checkpoint_ns } });
    await ask(`POST ${thread}/state/checkpoint`, { checkpoint, subgraphs: true });
    if (checkpoint_ns === "") await ask(`GET ${thread}/state/${checkpoint.checkpoint_id}?subgraphs=true`);
  }
  await ask(`POST ${thread}/state/checkpoint`, { checkpoint: { checkpoint_ns }, subgraphs: true });
  await ask(`POST ${thread}/state/checkpoint`, { checkpoint_ns });
}

/** Accepted and rejected writes, and errors thrown by the graph. None may return hidden values. */
export async function walkWrites(walker: Walker, { id, input }: Walked): Promise<void> {
  const { ask } = walker;
  const thread = await newThread(walker, id);
  await ask(`POST ${thread}/runs`, { assistant_id: id, input });
  await ask(`POST ${thread}/state`, { values: { topic: FINE } });
  await ask(`POST ${thread}/state`, { values: { topic: FINE }, as_node: "nobody" });
  await ask(`POST ${thread}/state`, { values: FINE, as_node: "gather" });
  await ask(`GET ${thread}`);
  const seed = { values: { topic: FINE }, as_node: "__start__" };
  await ask("POST /threads", { metadata: { graph_id: id }, supersteps: [{ updates: [seed] }] });
  await ask("POST /threads/prune", { thread_ids: [thread.slice(9)], strategy: "keep_latest" });
  await ask(`GET ${thread}/state?subgraphs=true`);
  await ask(`DELETE ${thread}`);
}

/** Crons with and without a thread. */
export async function walkCrons(walker: Walker, { id, input }: Walked): Promise<void> {
  const { ask } = walker;
  const cron = { assistant_id: id, schedule: "0 0 1 1 *", input };
  await ask(`POST ${await newThread(walker, id)}/runs/crons`, cron);
  const { cron_id } = (await ask("POST /runs/crons", cron)).body as { cron_id: string };
  await ask(`PATCH /runs/crons/${cron_id}`, { metadata: { seen: true } });
  await ask("POST /runs/crons/search", { assistant_id: id });
  await ask("POST /runs/crons/count", { assistant_id: id });
  await ask(`DELETE /runs/crons/${cron_id}`);
}

/** A webhook with an unreachable URL. */
export async function walkWebhooks(walker: Walker, { id, input }: Walked): Promise<void> {
  const { ask } = walker;
  const run = { assistant_id: id, input, webhook: "http://127.0.0.1:9/hook?token=1" };
  const { run_id } = (await ask(`POST ${await newThread(walker, id)}/runs`, run)).body as { run_id: string };
  await ask("GET /webhooks");
  await ask("GET /usage");
  await ask(`GET /usage/nodes?assistant_id=${id}`);
  await ask(`POST /webhooks/${run_id}/send`);
  await ask(`DELETE /webhooks/${run_id}`);
}

/** The stream of changes while a run starts and ends. */
export async function walkChanges(walker: Walker, { id, input }: Walked): Promise<void> {
  const thread = await newThread(walker, id);
  await walker.changes(() => walker.ask(`POST ${thread}/runs/wait`, { assistant_id: id, input }));
}

/** Routes that do not depend on a graph. */
export async function walkTheRest(walker: Walker): Promise<void> {
  const { ask } = walker;
  for (const path of ["/api/health", "/api/initial-message", "/info", "/metrics", "/ok", "/ready"])
    await ask(`GET ${path}`);
  await ask("GET /openapi.json");
  await ask("GET /docs/");
  const item = { namespace: ["walk"], key: "k" };
  await ask("PUT /store/items", { ...item, value: { text: FINE } });
  await ask("GET /store/items?namespace=walk&key=k");
  await ask("POST /store/items/search", { namespace_prefix: [] });
  await ask("POST /store/namespaces", {});
  await ask("DELETE /store/items", item);
}
