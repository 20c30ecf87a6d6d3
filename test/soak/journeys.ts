/**
 * Client behavior in the soak test: each journey leaves only threads, which it records, and store items of a
 * few keys.
 */
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client, StreamMode } from "@langchain/langgraph-sdk";

export interface Traveller {
  client: Client;
  url: string;
  /** Incremented with every journey. */
  turn: number;
  /** Creates a thread, which is deleted later. */
  thread: () => Promise<string>;
}

type Journey = (traveller: Traveller) => Promise<unknown>;

const MODES: StreamMode[] = [
  "values",
  "updates",
  "messages-tuple",
  "custom",
  "tasks",
  "checkpoints",
  "debug",
];
const says = (text: string) => ({ messages: [{ role: "user", content: text }] });
const work = (ms: number) => ({ ms, text: "" });
/** How long stalled readers stay connected, in ms; every third exceeds the server's limit. */
const MUTE_MS = [500, 2_000, 8_000];

async function drain(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}

/** Reads the first event and disconnects. */
async function leave(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream) return;
}

async function mute(url: string, path: string, ms: number): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) }).pause();
  socket.on("error", () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: -1\r\n\r\n`);
  await sleep(ms);
  socket.destroy();
}

export const JOURNEYS: Record<string, Journey> = {
  async streams({ client, thread }) {
    const id = await thread();
    await drain(client.runs.stream(id, "chat", { input: says("hello"), streamMode: MODES }));
    const options = { input: says("hello"), streamMode: MODES, streamSubgraphs: true };
    await drain(client.runs.stream(id, "subgraph", options));
  },
  async stateless({ client }) {
    await drain(client.runs.stream(null, "chat", { input: says("hello"), streamMode: ["values", "events"] }));
    await client.runs.wait(null, "chat", { input: says("hello") });
  },
  async leavers({ client, thread }) {
    const id = await thread();
    await leave(client.runs.stream(id, "slow", { input: work(2_000), onDisconnect: "cancel" }));
    const { run_id } = await client.runs.create(id, "slow", {
      input: work(10),
      multitaskStrategy: "enqueue",
    });
    await leave(client.runs.joinStream(id, run_id));
    await client.runs.join(id, run_id);
  },
  async muteReaders({ client, url, thread, turn }) {
    const id = await thread();
    const { run_id } = await client.runs.create(id, "large", { input: work(turn) });
    const ms = MUTE_MS[turn % MUTE_MS.length] ?? 0;
    const paths = [`runs/${run_id}/stream`, `runs/${run_id}/stream`, "history?limit=1000", "state"];
    await Promise.all(paths.map((path) => mute(url, `/threads/${id}/${path}`, ms)));
  },
  async interrupts({ client, thread }) {
    const id = await thread();
    await client.runs.wait(id, "hitl", { input: { topic: "cats" } });
    await client.threads.getState(id);
    await drain(client.runs.stream(id, "hitl", { command: { resume: "yes" }, streamMode: MODES }));
  },
  async cancels({ client, url, thread }) {
    const id = await thread();
    const headers = { prefer: "respond-async" };
    const body = JSON.stringify({ assistant_id: "slow", input: work(30_000) });
    const post = () => fetch(`${url}/threads/${id}/runs`, { method: "POST", headers, body });
    const runs = (await Promise.all([post(), post()]).then((answers) =>
      Promise.all(answers.map((answer) => answer.json())),
    )) as { run_id: string }[];
    for (const { run_id } of runs) await client.runs.cancel(id, run_id, true, "interrupt");
  },
  async deletes({ client, thread }) {
    const id = await thread();
    const stream = client.runs.stream(id, "slow", { input: work(30_000), onDisconnect: "continue" });
    for await (const { event } of stream) if (event === "metadata") await client.threads.delete(id);
  },
  async queues({ client, thread }) {
    const id = await thread();
    await Promise.all([1, 2, 3].map(() => client.runs.wait(id, "slow", { input: work(20) })));
  },
  async failures({ client, thread }) {
    const id = await thread();
    await client.runs.wait(id, "fail", { input: { x: 1 }, raiseError: false });
    await client.runs.list(id);
  },
  async searches({ client, thread }) {
    const id = await thread();
    await client.runs.wait(id, "chat", { input: says("find me") });
    await client.threads.search({ metadata: { graph_id: "chat" }, limit: 20 });
    await client.threads.search({ values: { x: 1 }, limit: 20 });
    await client.threads.getHistory(id, { limit: 100 });
    await client.threads.count({});
    await client.assistants.search();
  },
  async edits({ client, thread }) {
    const id = await thread();
    await client.runs.wait(id, "chat", { input: says("edit me") });
    await client.threads.update(id, { metadata: { edited: true } });
    await client.threads.updateState(id, { values: says("by hand") });
    const copy = (await client.threads.copy(id)) as unknown as { thread_id: string };
    await client.threads.delete(copy.thread_id);
  },
  async store({ client, turn }) {
    const namespace = ["soak", String(turn % 10)];
    await client.store.putItem(namespace, "item", { turn, text: "x".repeat(1_000) });
    await client.store.getItem(namespace, "item");
    await client.store.searchItems(["soak"], { filter: { turn: { $gt: 0 } }, limit: 100 });
    await client.store.listNamespaces({ prefix: ["soak"] });
    if (turn % 3 === 0) await client.store.deleteItem(namespace, "item");
  },
};
