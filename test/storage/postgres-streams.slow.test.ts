import { expect, it } from "vitest";
import { newId } from "../../src/support/ids.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { startTestServer } from "../helpers/app.js";
import { withPostgres } from "../helpers/postgres.js";
import { allEvents } from "../helpers/sse.js";

const STREAMS = 200;

withPostgres("streams on a small PostgreSQL pool", (postgres) => {
  it("200 concurrent streams all end", { timeout: 120_000 }, async () => {
    const { checkpointer_scheme, checkpointer_uri, checkpointer_options } = postgres.options({
      pool_max_size: 4,
    });
    const { service, request, fetch } = await startTestServer({
      graphs: { chat, gate },
      settings: { checkpointer_scheme, checkpointer_uri, checkpointer_options },
    });
    const [name, say] = [newId(), { assistant_id: "chat", input: { messages: ["hi"] } }];
    const streams = await Promise.all(
      Array.from({ length: STREAMS }, async () => {
        const { thread_id } = await service.threads.create({});
        const input = { gate: name };
        const body = { assistant_id: "gate", input, stream_mode: ["values", "updates"] };
        const response = await fetch("POST", `/threads/${thread_id}/runs/stream`, body);
        return { thread_id, ends: allEvents(response) };
      }),
    );
    await expect.poll(() => gateOf(name).entries, { timeout: 60_000 }).toBe(STREAMS);
    // All runs are in flight, far more than the pool has connections, and none holds a connection.
    const other = await request("POST", "/threads", {});
    const { thread_id: free } = other.body as { thread_id: string };
    expect((await request("POST", `/threads/${free}/runs`, say)).body).toMatchObject({ status: "success" });
    const [first] = streams;
    const queued = request("POST", `/threads/${first!.thread_id}/runs`, say);
    gateOf(name).open();
    const ended = await Promise.all(streams.map(async ({ ends }) => (await ends).at(-1)?.event));
    expect(ended.filter((event) => event !== "end")).toEqual([]);
    expect((await queued).body).toMatchObject({ status: "success" });
    expect(await service.threads.count({ status: "busy" })).toBe(0);
    expect(await service.threads.count({ status: "idle" })).toBe(STREAMS + 1);
    const [used] = await postgres.sql<{ connections: number }>(
      "SELECT count(*)::int AS connections FROM pg_stat_activity WHERE application_name = $1",
      [`${postgres.schema} pool`],
    );
    expect(used?.connections).toBeLessThanOrEqual(4);
  });
});
