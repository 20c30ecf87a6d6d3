/**
 * Users send any requests in any order: no one sees hidden data or data of other users, nothing fails, no
 * thread stays busy.
 */
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startServer } from "../../src/http/server.js";
import type { RunningServer } from "../../src/http/listen.js";
import type { Authenticate } from "../../src/models/caller.js";
import { openService } from "../../src/service/open.js";
import type { Service } from "../../src/service/service.js";
import { newId } from "../../src/support/ids.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as fail } from "../fixtures/graphs/fail.js";
import { graph as glass } from "../fixtures/graphs/glass.js";
import { CLASSIFIED, graph as vault } from "../fixtures/graphs/vault.js";
import { client } from "../helpers/app.js";
import { onEveryBackend } from "../helpers/backends.js";
import { newSeed } from "../helpers/seeds.js";

/** Set GRAPH_SERVE_TEST_SEED to repeat a run of this file. */
const seed = newSeed();
const RUNS = 12;
const USERS = ["owner ann", "owner bob", "org north"] as const;
const GRAPHS = ["vault", "glass", "chat", "fail"] as const;
const MODES = [
  "values",
  "updates",
  "tasks",
  "checkpoints",
  "debug",
  "messages",
  "messages-tuple",
  "custom",
  "tools",
];
type User = (typeof USERS)[number];

const scopeOf = (user: User) => Object.fromEntries([user.split(" ")]) as Record<string, string>;
/** A word in everything that a user sends. */
const wordOf = (user: User) => `word-of-${user.replace(" ", "-")}`;
const authenticate: Authenticate = ({ headers }) => {
  const user = String(headers.user) as User;
  return { identity: user, metadata: scopeOf(user) };
};

interface Step {
  user: User;
  /** The user whose scope and word are used in metadata and filters. */
  named: User;
  graph: (typeof GRAPHS)[number];
  thread: string;
}
type Ask = (method: string, path: string, body?: unknown) => Promise<{ text: string; body: unknown }>;
type Kind = (step: Step, ask: Ask) => Promise<unknown>;

const runOf = ({ user, graph }: Step) => ({
  assistant_id: graph,
  input: graph === "chat" ? { messages: wordOf(user) } : { topic: wordOf(user), x: 1 },
  if_not_exists: "create",
  metadata: { said: wordOf(user) },
});
const metadataOf = ({ named, graph }: Step) => ({ ...scopeOf(named), graph_id: graph });
const wide = { stream_mode: MODES, stream_subgraphs: true };

const KINDS: Record<string, Kind> = {
  create: (step, ask) =>
    ask("POST", "/threads", {
      thread_id: step.thread,
      metadata: { graph_id: step.graph },
      if_exists: "do_nothing",
    }),
  plant: (step, ask) => ask("POST", "/threads", { thread_id: step.thread, metadata: metadataOf(step) }),
  run: (step, ask) => ask("POST", `/threads/${step.thread}/runs`, runOf(step)),
  stream: (step, ask) => ask("POST", `/threads/${step.thread}/runs/stream`, { ...runOf(step), ...wide }),
  answer: ({ thread, graph }, ask) =>
    ask("POST", `/threads/${thread}/runs/stream`, {
      assistant_id: graph,
      command: { resume: "yes" },
      ...wide,
    }),
  patch: (step, ask) => ask("PATCH", `/threads/${step.thread}`, { metadata: metadataOf(step) }),
  turn: ({ thread, graph }, ask) => ask("PATCH", `/threads/${thread}`, { metadata: { graph_id: graph } }),
  edit: ({ thread, user }, ask) =>
    ask("POST", `/threads/${thread}/state`, { values: { topic: wordOf(user) } }),
  read: async ({ thread }, ask) => {
    await ask("GET", `/threads/${thread}`);
    await ask("GET", `/threads/${thread}/state?subgraphs=true`);
    await ask("GET", `/threads/${thread}/history?limit=100`);
    const { body } = await ask("GET", `/threads/${thread}/runs`);
    const [run] = Array.isArray(body) ? (body as { run_id: string }[]) : [];
    if (run) await ask("GET", `/threads/${thread}/runs/${run.run_id}/stream`);
  },
  find: async (step, ask) => {
    await ask("POST", "/threads/search", { limit: 100 });
    await ask("POST", "/threads/search", { metadata: scopeOf(step.named), extract: { all: "values" } });
    await ask("POST", "/threads/search", { values: { secret: `${CLASSIFIED} facts` } });
  },
  copy: ({ thread }, ask) => ask("POST", `/threads/${thread}/copy`),
  remove: ({ thread }, ask) => ask("DELETE", `/threads/${thread}`),
  remember: async ({ user, named }, ask) => {
    await ask("PUT", "/store/items", { namespace: ["kept"], key: "k", value: { said: wordOf(user) } });
    await ask("POST", "/store/items/search", { namespace_prefix: [named.replace(" ", "-")] });
    await ask("POST", "/store/items/search", {});
  },
};

const steps = (threads: readonly string[]) =>
  fc.array(
    fc.record({
      kind: fc.constantFrom(...Object.keys(KINDS)),
      user: fc.constantFrom(...USERS),
      named: fc.constantFrom(...USERS),
      graph: fc.constantFrom(...GRAPHS),
      thread: fc.constantFrom(...threads.keys()),
    }),
    { minLength: 5, maxLength: 20 },
  );

onEveryBackend(`sequences of requests (seed ${seed})`, (backend) => {
  let service: Service;
  let server: RunningServer;
  beforeAll(async () => {
    const { settings, cwd } = backend();
    service = await openService({ graphs: { vault, glass, chat, fail }, settings, cwd, authenticate });
    server = await startServer(service, { host: "127.0.0.1", port: 0 });
  });
  afterAll(async () => {
    await server.close(0);
    await service.close(0);
  });

  /** Sends requests as a user and checks that responses contain no hidden data and no data of other users. */
  const askAs =
    (user: User): Ask =>
    async (method, path, body) => {
      const { status, text, ...rest } = await client(server.url).request(method, path, body, { user });
      const request = `${user}: ${method} ${path} ${JSON.stringify(body)}`;
      expect(status, `${request} -> ${text}`).toBeLessThan(500);
      expect(text, request).not.toContain(CLASSIFIED);
      for (const other of USERS) if (other !== user) expect(text, request).not.toContain(wordOf(other));
      return { text, ...rest };
    };

  it("never expose hidden data or data of other users", { timeout: 600_000 }, async () => {
    const places = [0, 1, 2];
    const property = fc.asyncProperty(steps(places.map(String)), async (sequence) => {
      const threads = places.map(() => newId());
      for (const { kind, thread, ...step } of sequence) {
        await KINDS[kind]?.({ ...step, thread: threads[thread] ?? "" }, askAs(step.user));
      }
      for (const user of USERS) {
        const { body } = await askAs(user)("POST", "/threads/search", { status: "busy" });
        expect(body).toEqual([]);
      }
    });
    await fc.assert(property, { seed, numRuns: RUNS, includeErrorInReport: true });
  });
});
