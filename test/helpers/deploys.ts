/** Deploys of a changed graph on a storage that is kept, and threads that stopped before. */
import { expect } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import type { Storage } from "../../src/storage/contract/storage.js";
import { now } from "../../src/storage/rows/rows.js";
import type { Stop } from "../fixtures/graphs/releases.js";
import { startTestServer, type TestServer } from "./app.js";
import { recordingLogger } from "./service.js";

export const RUN = { assistant_id: "agent", input: { log: [] } };

interface Values {
  log: string[];
}

export async function deploy(storage: Storage, agent: unknown, settings: Partial<Settings> = {}) {
  const logger = recordingLogger();
  return { logger, ...(await startTestServer({ graphs: { agent }, storage, settings, logger })) };
}

/** A thread that stopped in the first release. */
export async function stopped({ request }: TestServer, stop: Stop): Promise<string> {
  const thread = crypto.randomUUID();
  const breakpoint = stop === "breakpoint" || stop === "crash" ? { interrupt_before: ["ask"] } : {};
  const body = { ...RUN, if_not_exists: "create", ...breakpoint };
  const { status } = await request("POST", `/threads/${thread}/runs/wait`, body);
  expect(status).toBe(200);
  return thread;
}

/** Changes the thread's last run to what a crashed process leaves behind. */
export async function crash({ runs, threads }: Storage, thread: string, patch: object): Promise<string> {
  const [row] = await runs.list({ threadId: thread, limit: 1, offset: 0 });
  if (!row) throw new Error("the thread has no run");
  const resumption = { unattended: true, isWhole: true, caller: null, spent_ms: 0 };
  await runs.delete(thread, row.run_id);
  const left = {
    ...row,
    ...{ state: "running" as const, owner: "gone", attempt: 1 },
    resumption,
    error: null,
    usage: null,
    updated_at: now(),
    ...patch,
  };
  await runs.insert(left, {
    updated_at: now(),
    ...(left.status === "running" && { status: "busy" as const }),
  });
  await threads.update(thread, { updated_at: now() });
  return left.run_id;
}

export const answerOf = (stop: Stop) =>
  stop === "breakpoint"
    ? { assistant_id: "agent", input: null }
    : { assistant_id: "agent", command: { resume: "yes" } };

export const logOf = async ({ request }: TestServer, thread: string) =>
  ((await request("GET", `/threads/${thread}/state`)).body as { values: Values }).values.log;

export const waited = ({ request }: TestServer, thread: string, body: object) =>
  request("POST", `/threads/${thread}/runs/wait`, body);
