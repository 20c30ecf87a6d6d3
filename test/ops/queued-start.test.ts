/** A queued run that the claiming process cannot start. */
import { expect, it } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import type { Run } from "../../src/models/run.js";
import type { Thread } from "../../src/models/thread.js";
import { graph as vault } from "../fixtures/graphs/vault.js";
import { startTestServer } from "../helpers/app.js";
import { withPostgres } from "../helpers/postgres.js";

withPostgres("a queued run", (postgres) => {
  const open = (more: Partial<Settings>) => {
    const { max_queued_runs: _, ...storage } = postgres.options();
    const queue = { queue: "postgres", stream: "postgres" } as const;
    return startTestServer({ graphs: { vault }, settings: { ...storage, ...queue, ...more } });
  };

  it("ends with its error if the settings of the worker refuse it", async () => {
    const { request } = await open({ role: "api", allow_unfiltered_events: true });
    const { thread_id } = (await request("POST", "/threads", {})).body as Thread;
    const body = { assistant_id: "vault", input: { topic: "x" }, stream_mode: ["events"] };
    const path = `/threads/${thread_id}/runs`;
    const accepted = await request("POST", path, body, { prefer: "respond-async" });
    expect(accepted).toMatchObject({ status: 200, body: { status: "pending" } });
    await open({ role: "worker" });
    const run = async () => (await request("GET", `${path}/${(accepted.body as Run).run_id}`)).body;
    const error = expect.stringContaining("stream mode events") as string;
    await expect.poll(run, { timeout: 30_000 }).toMatchObject({ status: "error", error });
    expect((await request("GET", `/threads/${thread_id}`)).body).toMatchObject({ status: "idle" });
  });
});
