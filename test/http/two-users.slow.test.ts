/** No route lets a user read, count, change, join or stop another user's data, or find out that it exists. */
import { newId } from "../../src/support/ids.js";
import { describe, expect, it } from "vitest";
import { ROUTES } from "../../src/http/route-table.js";
import {
  busyThread,
  delayedThread,
  everything,
  faceOf,
  idleThread,
  nothing,
  openTwoUsers as openUsers,
  type AuthKind,
  secretInput,
  WORD,
  type Ask,
  type Target,
} from "../helpers/two-users.js";

interface Case {
  request: string;
  body?: object;
  headers?: Record<string, string>;
}

/** Several requests for routes that accept different forms. */
type Cases = (target: Target) => Case | Case[];

const run = { assistant_id: "chat", input: secretInput };
const strategies = ["enqueue", "reject", "rollback", "interrupt"];
const body = (request: string, ...bodies: object[]): Case[] =>
  bodies.map((each) => ({ request, body: each }));
const startRun = (request: string): Case[] =>
  body(request, ...strategies.map((multitask_strategy) => ({ ...run, multitask_strategy })), {
    ...run,
    checkpoint_id: "x",
  });
/** From the beginning, from the middle, and with cancel_on_disconnect. */
const followed = (request: string): Case[] => [
  { request },
  ...["-1", "0"].map((id) => ({ request, headers: { "last-event-id": id } })),
  { request: `${request}?cancel_on_disconnect=1&stream_mode=values` },
];

/** Routes that take a thread id: another user's thread is answered like a missing one. */
const naming: Record<string, Cases> = {
  get_thread: ({ thread }) => ({ request: `GET /threads/${thread}` }),
  get_thread_version: ({ thread }) => ({ request: `GET /threads/${thread}/version` }),
  update_thread: ({ thread }) =>
    body(`PATCH /threads/${thread}`, { metadata: { owner: "anna" } }, { ttl: 1 }, {}),
  delete_thread: ({ thread }) => ({ request: `DELETE /threads/${thread}` }),
  copy_thread: ({ thread }) => ({ request: `POST /threads/${thread}/copy` }),
  prune_threads: ({ thread }) =>
    body("POST /threads/prune", { thread_ids: [thread] }, { thread_ids: [thread], strategy: "keep_latest" }),
  get_state: ({ thread }) => ({ request: `GET /threads/${thread}/state?subgraphs=true` }),
  update_state: ({ thread, checkpoint }) =>
    body(
      `POST /threads/${thread}/state`,
      { values: secretInput },
      { values: null, checkpoint_id: checkpoint },
    ),
  get_state_at_selector: ({ thread, checkpoint }) =>
    body(
      `POST /threads/${thread}/state/checkpoint`,
      { checkpoint: { thread_id: thread, checkpoint_id: checkpoint } },
      { checkpoint_id: checkpoint },
    ),
  get_state_at_checkpoint: ({ thread, checkpoint }) => ({
    request: `GET /threads/${thread}/state/${checkpoint}`,
  }),
  get_history: ({ thread, checkpoint }) => ({
    request: `GET /threads/${thread}/history?before=${checkpoint}`,
  }),
  search_history: ({ thread }) => body(`POST /threads/${thread}/history`, { metadata: { owner: "ann" } }, {}),
  create_run: ({ thread }) => startRun(`POST /threads/${thread}/runs`),
  stream_run: ({ thread }) => startRun(`POST /threads/${thread}/runs/stream`),
  wait_for_new_run: ({ thread }) => startRun(`POST /threads/${thread}/runs/wait`),
  list_runs: ({ thread }) => ({ request: `GET /threads/${thread}/runs` }),
  search_runs: ({ thread }) =>
    body(
      "POST /runs/search",
      {},
      { thread_id: thread },
      { metadata: { owner: "ann" } },
      { status: "success" },
    ),
  get_run: ({ thread, run: id }) => ({ request: `GET /threads/${thread}/runs/${id}` }),
  get_run_tasks: ({ thread, run: id }) => ({ request: `GET /threads/${thread}/runs/${id}/tasks` }),
  join_run: ({ thread, run: id }) => ({ request: `GET /threads/${thread}/runs/${id}/join` }),
  join_run_stream: ({ thread, run: id }) => followed(`GET /threads/${thread}/runs/${id}/stream`),
  list_dead_runs: () => ({ request: "GET /runs/dead" }),
  redrive_run: ({ thread, run: id }) => ({ request: `POST /threads/${thread}/runs/${id}/redrive` }),
  cancel_run: ({ thread, run: id }) =>
    ["", "?wait=1", "?action=rollback"].map((query) => ({
      request: `POST /threads/${thread}/runs/${id}/cancel${query}`,
    })),
  cancel_runs: ({ thread, run: id }) =>
    body(
      "POST /runs/cancel?action=rollback&wait=1",
      { thread_id: thread },
      { thread_id: thread, run_ids: [id] },
    ),
  join_stateless_run_stream: ({ stateless }) => followed(`GET /runs/${stateless}/stream`),
  delete_run: ({ thread, run: id }) => ({ request: `DELETE /threads/${thread}/runs/${id}` }),
  create_thread_cron: ({ thread }) =>
    body(`POST /threads/${thread}/runs/crons`, { assistant_id: "chat", schedule: "0 0 1 1 *" }),
  search_crons: ({ thread }) =>
    body("POST /runs/crons/search", {}, { thread_id: thread }, { metadata: { topic: WORD } }),
  count_crons: ({ thread }) =>
    body("POST /runs/crons/count", {}, { thread_id: thread }, { metadata: { topic: WORD } }),
  update_cron: ({ cron }) => body(`PATCH /runs/crons/${cron}`, {}, { enabled: false }),
  search_assistants: () => body("POST /assistants/search", {}, { name: WORD }, { metadata: { topic: WORD } }),
  count_assistants: () => body("POST /assistants/count", {}, { metadata: { topic: WORD } }),
  update_assistant: ({ assistant }) => body(`PATCH /assistants/${assistant}`, {}, { name: "mine" }),
  delete_assistant: ({ assistant }) => ({ request: `DELETE /assistants/${assistant}?delete_threads=true` }),
  list_assistant_versions: ({ assistant }) => body(`POST /assistants/${assistant}/versions`, {}),
  set_latest_assistant: ({ assistant }) => body(`POST /assistants/${assistant}/latest`, { version: 1 }),
  get_assistant: ({ assistant }) => ({ request: `GET /assistants/${assistant}` }),
  get_assistant_schemas: ({ assistant }) => ({ request: `GET /assistants/${assistant}/schemas` }),
  get_assistant_graph: ({ assistant }) => ({ request: `GET /assistants/${assistant}/graph` }),
  get_assistant_subgraphs: ({ assistant }) => ({ request: `GET /assistants/${assistant}/subgraphs` }),
  get_assistant_subgraph: ({ assistant }) => ({ request: `GET /assistants/${assistant}/subgraphs/none` }),
  delete_cron: ({ cron }) => ({ request: `DELETE /runs/crons/${cron}` }),
  list_webhooks: () => ({ request: "GET /webhooks?status=failed" }),
  list_usage: ({ thread }) => [
    { request: "GET /usage?group_by=user,day,model" },
    { request: `GET /usage?thread_id=${thread}` },
  ],
  sum_usage_by_node: () => ({ request: "GET /usage/nodes?assistant_id=chat" }),
  send_webhook: ({ hooked }) => ({ request: `POST /webhooks/${hooked}/send` }),
  delete_webhook: ({ hooked }) => ({ request: `DELETE /webhooks/${hooked}` }),
  search_threads: ({ thread }) =>
    body(
      "POST /threads/search",
      {},
      { ids: [thread] },
      { ids: [thread], metadata: { owner: "ann" } },
      { metadata: { owner: "ann" } },
      { metadata: { topic: WORD }, sort_by: "created_at", limit: 1000 },
      { values: { messages: [{ content: WORD }] } },
      { status: "busy" },
      { select: ["thread_id"], extract: { word: "values.messages[0].content" } },
    ),
  count_threads: ({ thread }) =>
    body(
      "POST /threads/count",
      {},
      { ids: [thread] },
      { metadata: { owner: "ann" } },
      { values: { messages: [{ content: WORD }] } },
      { status: "idle" },
    ),
};

/** `label` is a namespace of Ann's or an unknown one. */
const memory: Record<string, (label: string) => Case | Case[]> = {
  get_item: (label) => ({ request: `GET /store/items?namespace=${label}.notes&key=${label}` }),
  delete_item: (label) => body("DELETE /store/items", { namespace: [label, "notes"], key: label }),
  search_items: (label) =>
    body(
      "POST /store/items/search",
      {},
      { namespace_prefix: [label] },
      { filter: { text: label } },
      { query: label },
      { namespace_prefix: [label], query: label, filter: { text: label } },
    ),
  list_namespaces: (label) =>
    body(
      "POST /store/namespaces",
      {},
      { prefix: [label] },
      { prefix: ["*"] },
      { suffix: ["notes"] },
      { suffix: ["ann", label, "notes"], max_depth: 1 },
    ),
};

/** Routes without user data: both users get the same answers. */
const shared: Record<string, Case> = {
  get_health: { request: "GET /api/health" },
  get_ok: { request: "GET /ok" },
  get_ready: { request: "GET /ready" },
  get_info: { request: "GET /info" },
  get_initial_message: { request: "GET /api/initial-message" },
  get_metrics: { request: "GET /metrics" },
};

/** Routes that create data; only the caller can see it. */
const making: Record<string, (ask: Ask) => Promise<unknown>> = {
  create_thread: (ask) => ask("POST /threads", { metadata: { topic: WORD } }),
  put_item: (ask) => ask("PUT /store/items", { namespace: [WORD], key: WORD, value: { text: WORD } }),
  create_assistant: (ask) => ask("POST /assistants", { graph_id: "chat", name: WORD }),
  create_cron: (ask) =>
    ask("POST /runs/crons", {
      assistant_id: "chat",
      schedule: "0 0 1 1 *",
      input: secretInput,
      metadata: { topic: WORD },
    }),
  create_stateless_run: async (ask) => {
    const { thread_id } = (await ask("POST /runs", { ...run, on_completion: "keep" })).body as {
      thread_id: string;
    };
    const [{ run_id } = { run_id: "" }] = (await ask(`GET /threads/${thread_id}/runs`)).body as {
      run_id: string;
    }[];
    return ask(`GET /threads/${thread_id}/runs/${run_id}/join`);
  },
  send_command: async (ask) => {
    const thread = newId();
    const params = { assistant_id: "chat", input: secretInput };
    const answer = await ask(`POST /threads/${thread}/commands`, { id: 1, method: "run.start", params });
    const { run_id } = (answer.body as { result: { run_id: string } }).result;
    return ask(`GET /threads/${thread}/runs/${run_id}/join`);
  },
  wait_for_stateless_run: (ask) => ask("POST /runs/wait", { ...run, on_completion: "keep" }),
  stream_stateless_run: (ask) => ask("POST /runs/stream", { ...run, on_completion: "keep" }),
  create_stateless_runs: (ask) => ask("POST /runs/batch", [{ ...run, on_completion: "keep" }]),
};

/** Streams that never end by themselves: see thread-events-access, thread-join, thread-socket and changes.test.ts. */
const ENDLESS = ["join_thread_stream", "stream_thread_events", "open_thread_socket", "stream_changes"];

/** Requests of LangGraph's clients to routes that do not exist here. */
const ABSENT = ["PATCH /threads/THREAD/state", "PUT /threads/THREAD/runs/RUN", "POST /runs/RUN/stream"];

const casesOf = (cases: Case | Case[]): Case[] => [cases].flat();

describe.each<AuthKind>(["function", "Auth object"])("two users of an auth %s", (by) => {
  const openTwoUsers = () => openUsers(by);

  it("every operation of the OpenAPI document has a case", async () => {
    const { ann } = await openTwoUsers();
    const { paths } = (await ann("GET /openapi.json")).body as {
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
    const covered = [naming, memory, shared, making].flatMap((table) => Object.keys(table));
    expect([...covered, ...ENDLESS].sort()).toEqual(operations.map(({ operationId }) => operationId).sort());
    expect(operations).toHaveLength(ROUTES.length);
  });

  it.each(ABSENT)("the missing route %s does not reveal another user's thread", async (request) => {
    const { ann, anna } = await openTwoUsers();
    const theirs = await idleThread(ann);
    const none = nothing();
    const of = (ids: Target) => request.replace("THREAD", ids.thread).replace("RUN", ids.run);
    const answer = await anna(of(theirs), {});
    expect(faceOf(answer, theirs)).toEqual(faceOf(await anna(of(none), {}), none));
    expect([404, 405]).toContain(answer.status);
  });

  describe.each([
    ["idle", idleThread],
    ["busy", busyThread],
    ["delayed", delayedThread],
  ])("with another user's %s thread", (_status, make) => {
    it.each(Object.keys(naming))("%s does not reveal the thread", async (id) => {
      const { ann, anna } = await openTwoUsers();
      const theirs = await make(ann);
      const none = nothing();
      const before = await everything(ann, theirs);
      expect(before).toContain(WORD);
      const unknown = casesOf(naming[id]?.(none) ?? []);
      for (const [index, { request, body: sent, headers }] of casesOf(naming[id]?.(theirs) ?? []).entries()) {
        const answer = await anna(request, sent, headers);
        const same = await anna(unknown[index]?.request ?? "", unknown[index]?.body, headers);
        expect(faceOf(answer, theirs)).toEqual(faceOf(same, none));
        expect(answer.text).not.toContain(WORD);
      }
      expect(await everything(ann, theirs)).toBe(before);
    });
  });

  it.each(["search_threads", "count_threads"])("%s returns only the caller's threads", async (id) => {
    const { ann, anna } = await openTwoUsers();
    const theirs = await idleThread(ann);
    const none = id === "count_threads" ? 0 : [];
    for (const { request, body: sent } of casesOf(naming[id]?.(theirs) ?? []))
      expect((await anna(request, sent)).body).toEqual(none);
    const own = await idleThread(anna);
    const all = (await anna("POST /threads/search", {})).body as { thread_id: string }[];
    expect(all.map(({ thread_id }) => thread_id)).toEqual([own.thread]);
    // The handler writes the caller's identity into a filter by owner.
    const byOwner = by === "function" ? [{ metadata: { owner: "ann" } }] : [];
    for (const filter of [...byOwner, { ids: [theirs.thread] }]) {
      const request = id === "count_threads" ? "POST /threads/count" : "POST /threads/search";
      expect((await anna(request, filter)).body).toEqual(none);
    }
  });

  it.each(Object.keys(naming))("%s works for the owner", async (id) => {
    const { ann } = await openTwoUsers();
    for (const index of casesOf(naming[id]?.(nothing()) ?? []).keys()) {
      const [found] = casesOf(naming[id]?.(await idleThread(ann)) ?? []).slice(index);
      const { request, body: sent, headers } = found ?? { request: "" };
      const { status, text } = await ann(request, sent, headers);
      // Dead runs are covered by test/ops/dead-runs.test.ts.
      if (id === "redrive_run") {
        expect([status, text]).toEqual([409, expect.stringContaining("is not dead")]);
        continue;
      }
      const isAbsent = sent !== undefined && "checkpoint_id" in sent && sent.checkpoint_id === "x";
      expect([status, text]).toEqual([isAbsent ? 404 : expect.toSatisfy((code) => code < 300), text]);
    }
  });

  it.each(Object.keys(memory))("%s accesses only the caller's items", async (id) => {
    const { ann, anna } = await openTwoUsers();
    const theirs = await idleThread(ann);
    const before = await everything(ann, theirs);
    const unknown = casesOf(memory[id]?.("quince") ?? []);
    for (const [index, { request, body: sent }] of casesOf(memory[id]?.(WORD) ?? []).entries()) {
      const answer = await anna(request, sent);
      const same = await anna(unknown[index]?.request ?? "", unknown[index]?.body);
      expect({ status: answer.status, text: answer.text }).toEqual({ status: same.status, text: same.text });
      expect(answer.text).not.toContain(WORD);
    }
    expect(await everything(ann, theirs)).toBe(before);
    const [own] = casesOf(memory[id]?.(WORD) ?? []);
    const { status, text } = await ann(own?.request ?? "", own?.body);
    expect(status).toBeLessThan(300);
    if (id !== "delete_item") expect(text).toContain(WORD);
    else expect(await everything(ann, theirs)).not.toBe(before);
  });

  it.each(Object.entries(shared))(
    "%s returns the same to both users",
    async (_id, { request, body: sent }) => {
      const { ann, anna } = await openTwoUsers();
      const theirs = await idleThread(ann);
      expect(faceOf(await anna(request, sent), theirs)).toEqual(faceOf(await ann(request, sent), theirs));
    },
  );

  it.each(Object.entries(making))("data created by %s belongs to the caller", async (_id, make) => {
    const { server, ann, anna } = await openTwoUsers();
    await make(ann);
    for (const path of [
      "/threads/search",
      "/store/items/search",
      "/store/namespaces",
      "/runs/crons/search",
    ]) {
      const { text } = await anna(`POST ${path}`, {});
      expect(text).toMatch(/^(\[\]|\{"(items|namespaces)":\[\]\})$/);
    }
    expect((await anna("POST /assistants/search", {})).text).not.toContain(WORD);
    const threads = await server.service.threads.search({});
    expect(threads.items.map(({ metadata }) => metadata?.owner)).toEqual(threads.items.map(() => "ann"));
    const owned = async () => {
      const found = ["threads", "store/items", "runs/crons", "assistants"].map((what) =>
        ann(`POST /${what}/search`, {}),
      );
      const answers = await Promise.all(found);
      return answers.map(({ text }) => text).join();
    };
    await expect.poll(owned).toContain(WORD);
  });

  it.each([
    ["idle", idleThread],
    ["busy", busyThread],
  ])("creating the id of another user's %s thread returns 409", async (_status, make) => {
    const { ann, anna } = await openTwoUsers();
    const theirs = await make(ann);
    const before = await everything(ann, theirs);
    const create = { ...run, if_not_exists: "create" };
    const requests: Case[] = [
      ...body(
        "POST /threads",
        { thread_id: theirs.thread },
        { thread_id: theirs.thread, if_exists: "do_nothing" },
      ),
      ...["", "/stream", "/wait"].flatMap((end) =>
        body(
          `POST /threads/${theirs.thread}/runs${end}`,
          ...strategies.map((multitask_strategy) => ({ ...create, multitask_strategy })),
        ),
      ),
    ];
    for (const { request, body: sent } of requests) {
      const answer = await anna(request, sent);
      expect(answer).toMatchObject({ status: 409, body: { code: "thread_exists" } });
      expect(answer.text).not.toContain(WORD);
    }
    expect(await everything(ann, theirs)).toBe(before);
  });

  it("a background run cannot be started on another user's thread", async () => {
    const { server, ann } = await openTwoUsers();
    const { thread } = await busyThread(ann);
    for (const if_not_exists of ["reject", "create"]) {
      const headers = { user: "anna", prefer: "respond-async" };
      const answer = await server.request(
        "POST",
        `/threads/${thread}/runs`,
        { ...run, if_not_exists },
        headers,
      );
      expect(answer.status).toBe(if_not_exists === "create" ? 409 : 404);
    }
    expect((await ann(`GET /threads/${thread}/runs`)).body).toHaveLength(2);
  });

  it("one of two users who create the same id at the same time gets it", async () => {
    const { server, ann, anna } = await openTwoUsers();
    const { thread } = nothing();
    const body = { ...run, if_not_exists: "create" };
    const answers = await Promise.all([ann, anna].map((ask) => ask(`POST /threads/${thread}/runs`, body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const owner = answers[0]?.status === 200 ? "ann" : "anna";
    expect((await server.service.threads.get(thread)).metadata.owner).toBe(owner);
    expect(await server.service.runs.list(thread, {})).toHaveLength(1);
  });
});
