/** Every method of the official SDK's client, its outcome here, and a call that shows it. */
import type { Client } from "@langchain/langgraph-sdk";

/** Ids that the calls may use. */
export interface Given {
  /** A thread with an ended run of the graph `chat`. */
  thread: string;
  /** The run on `thread`. */
  run: string;
  /** A thread whose run waits at a gate. */
  busyThread: string;
  busyRun: string;
  /** Opens the gate of `busyRun`. */
  open: () => void;
  /** The fetch of the client under test. */
  fetch: typeof fetch;
}

export interface SdkMethod {
  /** The method, followed by a blank and the special case if any, such as `runs.create with webhook`. */
  call: string;
  outcome: "works" | "refused" | "not offered";
  /** Status of the response. */
  status: number;
  /** Remark for the documentation. */
  note?: string;
  make: (client: Client, given: Given) => Promise<unknown>;
}

const input = { messages: [{ role: "user", content: "tea" }] };
const NOBODY = "0197f0a0-0000-7000-8000-00000000dead";

const all = async (stream: AsyncIterable<unknown>): Promise<unknown[]> => {
  const chunks: unknown[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
};

type Make = SdkMethod["make"];

const works = (call: string, make: Make, note?: string, status = 200): SdkMethod => ({
  call,
  outcome: "works",
  status,
  note,
  make,
});
const refused = (call: string, status: number, make: Make, note: string): SdkMethod => ({
  call,
  outcome: "refused",
  status,
  note,
  make,
});
const notOffered = (call: string, status: number, make: Make, note?: string): SdkMethod => ({
  call,
  outcome: "not offered",
  status,
  note,
  make,
});

const ASSISTANTS: SdkMethod[] = [
  works("assistants.search", (client) => client.assistants.search({ includePagination: true })),
  works("assistants.count", (client) => client.assistants.count()),
  works("assistants.get", (client) => client.assistants.get("chat")),
  works("assistants.getGraph", (client) => client.assistants.getGraph("chat", { xray: 2 })),
  works("assistants.getSchemas", (client) => client.assistants.getSchemas("chat")),
  works("assistants.getSubgraphs", (client) =>
    client.assistants.getSubgraphs("subgraph", { namespace: "child", recurse: true }),
  ),
  notOffered(
    "assistants.create",
    404,
    (client) => client.assistants.create({ graphId: "chat" }),
    "unless the setting `assistants` is `managed`; so the four methods below",
  ),
  notOffered("assistants.update", 405, (client) => client.assistants.update("chat", {})),
  notOffered("assistants.delete", 405, (client) => client.assistants.delete("chat")),
  notOffered("assistants.getVersions", 404, (client) => client.assistants.getVersions("chat")),
  notOffered("assistants.setLatest", 404, (client) => client.assistants.setLatest("chat", 1)),
];

const THREADS: SdkMethod[] = [
  works("threads.create", (client) => client.threads.create({ graphId: "chat", ttl: 5 })),
  refused(
    "threads.create with a taken id",
    409,
    (client, { thread }) => client.threads.create({ threadId: thread }),
    'unless `ifExists` is `"do_nothing"`',
  ),
  works("threads.search", (client) =>
    client.threads.search({ metadata: { graph_id: "chat" }, select: ["thread_id"] }),
  ),
  works("threads.count", (client) => client.threads.count({ status: "idle" })),
  works("threads.get", (client, { thread }) => client.threads.get(thread, { include: ["ttl"] })),
  works("threads.update", (client, { thread }) => client.threads.update(thread, { metadata: { a: 1 } })),
  works(
    "threads.update with returnMinimal",
    (client, { thread }) => client.threads.update(thread, { metadata: {}, returnMinimal: true }),
    undefined,
    204,
  ),
  works("threads.copy", (client, { thread }) => client.threads.copy(thread), "the latest state alone"),
  works("threads.delete", (client, { thread }) => client.threads.delete(thread), undefined, 204),
  works("threads.prune", (client, { thread }) => client.threads.prune([thread], { strategy: "keep_latest" })),
  works("threads.getState", (client, { thread }) =>
    client.threads.getState(thread, undefined, { subgraphs: true }),
  ),
  works("threads.getState of a checkpoint", async (client, { thread }) => {
    const { checkpoint } = await client.threads.getState(thread);
    return client.threads.getState(thread, checkpoint);
  }),
  works("threads.updateState", (client, { thread }) => client.threads.updateState(thread, { values: input })),
  refused(
    "threads.updateState while a run is in flight",
    409,
    (client, { busyThread }) => client.threads.updateState(busyThread, { values: input }),
    "join the run first",
  ),
  works("threads.getHistory", (client, { thread }) => client.threads.getHistory(thread, { limit: 1 })),
  notOffered("threads.patchState", 405, (client, { thread }) => client.threads.patchState(thread, {})),
  works(
    "threads.joinStream",
    (client, { thread }) => client.threads.joinStream(thread, { lastEventId: "-1" }).next(),
    "modes `run_modes` and `lifecycle`",
  ),
  works(
    "threads.stream",
    async (client, { thread, fetch }) => {
      const stream = client.threads.stream(thread, { assistantId: "chat", fetch });
      const values = await stream.submitRun({ input }).then(() => stream.output);
      await stream.close();
      return values;
    },
    "the newer protocol: [events of a thread](http/events.md)",
  ),
];

const RUNS: SdkMethod[] = [
  works(
    "runs.create",
    (client, { thread }) => client.runs.create(thread, "chat", { input }),
    'answers when the run has ended; at once with `run_create_mode: "background"`',
  ),
  works(
    "runs.create without a thread",
    (client) => client.runs.create(null, "chat", { input }),
    "answers at once",
  ),
  works("runs.create on a missing thread", (client) =>
    client.runs.create(NOBODY, "chat", { input, ifNotExists: "create" }),
  ),
  refused(
    "runs.create with afterSeconds",
    400,
    (client, { thread }) => client.runs.create(thread, "chat", { input, afterSeconds: 5 }),
    "works with the setting `delayed_runs`: [schedules](schedules.md#delayed-runs)",
  ),
  refused(
    "runs.create with webhook",
    400,
    (client, { thread }) => client.runs.create(thread, "chat", { input, webhook: "https://example.com" }),
    "works with the setting `webhooks`: [webhooks](webhooks.md)",
  ),
  ...(["reject", "rollback", "interrupt"] as const).map((multitaskStrategy) =>
    refused(
      `runs.create on a busy thread with ${multitaskStrategy}`,
      409,
      (client, { busyThread }) => client.runs.create(busyThread, "chat", { input, multitaskStrategy }),
      "by default the caller waits for its turn",
    ),
  ),
  works("runs.createBatch", (client) => client.runs.createBatch([{ assistantId: "chat", input }])),
  works("runs.wait", (client, { thread }) => client.runs.wait(thread, "chat", { input })),
  works("runs.wait without a thread", (client) => client.runs.wait(null, "chat", { input })),
  works("runs.stream", (client, { thread }) => all(client.runs.stream(thread, "chat", { input }))),
  works("runs.stream without a thread", (client) => all(client.runs.stream(null, "chat", { input }))),
  works("runs.list", (client, { thread }) => client.runs.list(thread, { status: "success" })),
  works("runs.get", (client, { thread, run }) => client.runs.get(thread, run)),
  works(
    "runs.cancel",
    (client, { busyThread, busyRun }) => client.runs.cancel(busyThread, busyRun),
    "of a run that has ended: nothing happens",
    202,
  ),
  works(
    "runs.cancel with wait",
    (client, { busyThread, busyRun }) => client.runs.cancel(busyThread, busyRun, true, "rollback"),
    undefined,
    204,
  ),
  works(
    "runs.cancelMany",
    (client, { busyThread, busyRun }) => client.runs.cancelMany({ threadId: busyThread, runIds: [busyRun] }),
    "`threadId` is needed",
    202,
  ),
  refused(
    "runs.cancelMany without threadId",
    422,
    (client) => client.runs.cancelMany({ status: "all" }),
    "runs are cancelled thread by thread",
  ),
  works("runs.join", (client, { thread, run }) => client.runs.join(thread, run)),
  works("runs.joinStream", (client, { busyThread, busyRun, open }) => {
    open();
    return all(client.runs.joinStream(busyThread, busyRun));
  }),
  works(
    "runs.joinStream without a thread",
    async (client) => {
      const { run_id } = await client.runs.create(null, "chat", { input });
      return all(client.runs.joinStream(null, run_id));
    },
    "while the frames are kept: five minutes after the run's end",
  ),
  works("runs.delete", (client, { thread, run }) => client.runs.delete(thread, run), undefined, 204),
  refused(
    "runs.delete of a run in flight",
    409,
    (client, { busyThread, busyRun }) => client.runs.delete(busyThread, busyRun),
    "cancel it first",
  ),
];

const STORE: SdkMethod[] = [
  works("store.putItem", (client) => client.store.putItem(["users"], "ann", { tea: true }), undefined, 204),
  works("store.getItem", (client) => client.store.getItem(["users"], "ann"), "null where there is none"),
  works("store.searchItems", (client) => client.store.searchItems(["users"], { filter: { tea: true } })),
  works("store.listNamespaces", (client) => client.store.listNamespaces({ maxDepth: 1 })),
  works("store.deleteItem", (client) => client.store.deleteItem(["users"], "ann"), undefined, 204),
];

const CRONS: SdkMethod[] = [
  notOffered(
    "crons.create",
    404,
    (client) => client.crons.create("chat", { schedule: "* * * * *" }),
    "works with the setting `crons`, as do the others: [schedules](schedules.md)",
  ),
  notOffered("crons.createForThread", 405, (client, { thread }) =>
    client.crons.createForThread(thread, "chat", { schedule: "* * * * *" }),
  ),
  notOffered("crons.update", 404, (client) => client.crons.update(NOBODY, {})),
  notOffered("crons.delete", 404, (client) => client.crons.delete(NOBODY)),
  notOffered("crons.search", 404, (client) => client.crons.search()),
  notOffered("crons.count", 404, (client) => client.crons.count()),
];

const UI: SdkMethod[] = [
  notOffered(
    "~ui.getComponent",
    404,
    (client) => client["~ui"].getComponent("chat", "card"),
    "components of generative interfaces",
  ),
];

export const SDK_METHODS: readonly SdkMethod[] = [
  ...ASSISTANTS,
  ...THREADS,
  ...RUNS,
  ...STORE,
  ...CRONS,
  ...UI,
];

/** The method without the special case: `runs.create` for `runs.create with webhook`. */
export const methodOf = ({ call }: SdkMethod): string => call.split(" ", 1)[0] ?? "";
