/** The session of the thread locks on a server that has no room for another lock, simulated at the driver. */
import { expect, it, onTestFinished, vi } from "vitest";
import type { Client } from "pg";
import { LockSession } from "../../src/storage/postgres/lock-session.js";

const WAITERS = 10;
const STATEMENT_MS = 2_000;

/** A server with slow statements and no room for a lock. */
function fullServer(): Client {
  const query = async (asked: string | { values: [commands: string[]] }) => {
    if (typeof asked === "string") return { rows: [] };
    await vi.advanceTimersByTimeAsync(STATEMENT_MS);
    const [commands] = asked.values;
    if (commands.includes("try")) throw Object.assign(new Error("out of shared memory"), { code: "53200" });
    return { rows: commands.map(() => ({ answer: true })) };
  };
  const ended = () => Promise.resolve();
  return { query, on: () => undefined, connect: ended, end: ended } as unknown as Client;
}

it("rejecting many waiters one by one does not count as silence of the server", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const session = await LockSession.open(fullServer(), "unlocks", () => Promise.resolve());
  onTestFinished(() => session.close());
  const asked = Array.from({ length: WAITERS }, (_, key) => session.request(String(key), "raiseFlag", "try"));
  for (const one of await Promise.allSettled(asked))
    expect(one).toMatchObject({ status: "rejected", reason: { code: "53200" } });
  expect(session.lost.aborted).toBe(false);
});
