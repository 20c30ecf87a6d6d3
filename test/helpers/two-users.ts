/** A server with two users: one owns data, and the other requests it. */
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { graph as whoami } from "../fixtures/graphs/whoami.js";
import { gateOf } from "../fixtures/gates.js";
import { newId } from "../../src/support/ids.js";
import type { Authenticate } from "../../src/models/caller.js";
import { startTestServer, type Answer, type TestServer } from "./app.js";
import { webhooks } from "./webhook-receiver.js";

const PATIENT = { timeout: 20_000 };

/** Part of everything that Ann owns. */
export const WORD = "pomegranate";

/** Reads the identity from the header `user`; anonymous without it. */
export const byHeader: Authenticate = ({ headers }) =>
  typeof headers.user === "string" ? { identity: headers.user } : null;

export type Ask = (request: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;

/** Ids for requests. */
export interface Target {
  thread: string;
  run: string;
  checkpoint: string;
  /** A stateless run. It is in flight in the target of a busy thread. */
  stateless: string;
  cron: string;
  assistant: string;
  /** A run with an undelivered webhook. */
  hooked: string;
}

export interface TwoUsers {
  server: TestServer;
  /** The name of one user is a prefix of the other's. */
  ann: Ask;
  anna: Ask;
}

/** What distinguishes the users: an auth function, or an `Auth` object of LangGraph. */
export type AuthKind = "function" | "Auth object";

const OWNER_AUTH = fileURLToPath(new URL("../fixtures/auth/owner.ts:auth", import.meta.url));

const LETTERS = fileURLToPath(new URL("../fixtures/embeddings/letters.ts:embed", import.meta.url));

export async function openTwoUsers(by: AuthKind = "function"): Promise<TwoUsers> {
  const server = await startTestServer({
    graphs: { chat, gate, whoami },
    ...(by === "function" && { authenticate: byHeader }),
    settings: {
      crons: true,
      delayed_runs: true,
      assistants: "managed",
      webhooks,
      store_index: { dims: 26, embed: LETTERS },
      ...(by === "Auth object" && { auth: OWNER_AUTH }),
    },
  });
  const as =
    (user: string): Ask =>
    (request, body, headers) => {
      const [method = "", path = ""] = request.split(" ");
      return server.request(method, path, body, { ...headers, user });
    };
  return { server, ann: as("ann"), anna: as("anna") };
}

const field = ({ body }: Answer, name: string) => (body as Record<string, unknown>)[name];

export const secretInput = { messages: [{ role: "user", content: WORD }] };

/** A thread with a finished run and an item in memory. */
export async function idleThread(ask: Ask): Promise<Target> {
  const thread = String(field(await ask("POST /threads", { metadata: { topic: WORD } }), "thread_id"));
  const run = await ask(`POST /threads/${thread}/runs`, {
    assistant_id: "chat",
    input: secretInput,
    webhook: `http://127.0.0.1:9/${WORD}`,
  });
  const state = await ask(`GET /threads/${thread}/state`);
  const { checkpoint_id } = field(state, "checkpoint") as { checkpoint_id: string };
  await ask("PUT /store/items", { namespace: [WORD, "notes"], key: WORD, value: { text: WORD } });
  const schedule = {
    assistant_id: "chat",
    schedule: "0 0 1 1 *",
    metadata: { topic: WORD },
    input: secretInput,
  };
  const cron = String(field(await ask(`POST /threads/${thread}/runs/crons`, schedule), "cron_id"));
  const assistant = await ask("POST /assistants", {
    graph_id: "chat",
    name: WORD,
    metadata: { topic: WORD },
    context: { text: WORD },
  });
  return {
    thread,
    assistant: String(field(assistant, "assistant_id")),
    run: String(field(run, "run_id")),
    hooked: String(field(run, "run_id")),
    checkpoint: checkpoint_id,
    cron,
    stateless: await statelessRun(ask),
  };
}

/** A finished run whose thread has been deleted. */
async function statelessRun(ask: Ask): Promise<string> {
  const run = await ask("POST /runs", { assistant_id: "chat", input: secretInput });
  const thread = String(field(run, "thread_id"));
  await expect.poll(async () => (await ask(`GET /threads/${thread}`)).status, PATIENT).toBe(404);
  return String(field(run, "run_id"));
}

/** Like `idleThread`, with another run that waits at its gate. */
export async function busyThread(ask: Ask): Promise<Target> {
  const target = await idleThread(ask);
  const name = newId();
  await ask("PUT /store/items", { namespace: [WORD], key: name, value: {} });
  void ask(`POST /threads/${target.thread}/runs`, { assistant_id: "gate", input: { gate: name } }).catch(
    () => undefined,
  );
  await gateOf(name).entered;
  const [run] = (await ask(`GET /threads/${target.thread}/runs`)).body as { run_id: string }[];
  const other = newId();
  const body = { assistant_id: "gate", input: { gate: other }, metadata: { topic: WORD } };
  const stateless = String(field(await ask("POST /runs", body), "run_id"));
  await gateOf(other).entered;
  return { ...target, run: run?.run_id ?? "", stateless };
}

/** Like `idleThread`, with another run that starts in an hour. */
export async function delayedThread(ask: Ask): Promise<Target> {
  const target = await idleThread(ask);
  const body = { assistant_id: "chat", input: secretInput, after_seconds: 3600, metadata: { topic: WORD } };
  const run = await ask(`POST /threads/${target.thread}/runs`, body, { prefer: "respond-async" });
  expect(run.body).toMatchObject({ status: "pending" });
  return { ...target, run: String(field(run, "run_id")) };
}

/** Ids that do not exist. */
export const nothing = (): Target => ({
  thread: newId(),
  run: newId(),
  checkpoint: newId(),
  stateless: newId(),
  cron: newId(),
  assistant: newId(),
  hooked: newId(),
});

/** Everything that a user can see of an owned thread. */
export async function everything(ask: Ask, { thread }: Target): Promise<string> {
  const answers = [
    await ask(`GET /threads/${thread}`),
    await ask(`GET /threads/${thread}/state`),
    await ask(`GET /threads/${thread}/history?limit=100`),
    await ask(`GET /threads/${thread}/runs?limit=100`),
    await ask("POST /threads/search", {}),
    await ask("POST /runs/crons/search", {}),
    await ask("POST /assistants/search", {}),
    await ask("POST /store/items/search", {}),
    await ask("POST /store/namespaces", {}),
  ];
  return answers.map(({ status, text }) => `${status} ${text}`).join("\n");
}

/** The response without its individual headers and with ids replaced by names. */
export function faceOf({ status, headers, text }: Answer, ids: Target): object {
  const named = (value: string) =>
    value
      .replaceAll(ids.thread, "THREAD")
      .replaceAll(ids.run, "RUN")
      .replaceAll(ids.hooked, "RUN")
      .replaceAll(ids.stateless, "STATELESS")
      .replaceAll(ids.checkpoint, "CHECKPOINT")
      .replaceAll(ids.cron, "CRON")
      .replaceAll(ids.assistant, "ASSISTANT");
  const own = ["date", "x-request-id", "content-length"];
  const rest = [...headers]
    .filter(([name]) => !own.includes(name))
    .map(([name, value]) => [name, named(value)]);
  return { status, headers: Object.fromEntries(rest) as object, text: named(text) };
}
