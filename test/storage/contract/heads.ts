import type { RunnableConfig } from "@langchain/core/runnables";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { expect, it } from "vitest";
import { withKnownHead } from "../../../src/storage/saver/known-head.js";
import type { Storage } from "../../../src/storage/contract/storage.js";
import { newId } from "../../../src/support/ids.js";

/** Time-based id (UUID version 6) of a time in milliseconds since 1970. */
export function idAt(ms: number): string {
  const time = ((BigInt(ms) + 12_219_292_800_000n) * 10_000n).toString(16).padStart(15, "0");
  return `${time.slice(0, 8)}-${time.slice(8, 12)}-6${time.slice(12)}-8000-000000000000`;
}

let clock = Date.parse("2026-01-01T00:00:00Z");

/** A new id, greater than all previous ones. */
export const nextId = (): string => idAt(clock++);

/** Stores a checkpoint as a writer that has read `known` as the newest. */
export async function putKnowing(
  { checkpointer }: Storage,
  config: RunnableConfig,
  id: string,
  known: string,
): Promise<void> {
  const checkpoint = { ...emptyCheckpoint(), id };
  const metadata = { source: "loop" as const, step: 0, parents: {} };
  await checkpointer.put(withKnownHead(config, { greatest: known }), checkpoint, metadata, {});
}

export async function idsOf({ checkpointer }: Storage, config: RunnableConfig): Promise<string[]> {
  const ids: string[] = [];
  for await (const { checkpoint } of checkpointer.list(config)) ids.push(checkpoint.id);
  return ids;
}

/** `isAtomic`: checking the newest checkpoint and writing are one step. */
export function headTests(storage: () => Storage, { isAtomic }: { isAtomic: boolean }): void {
  it.each(["", "child:1"])("a writer that missed a checkpoint in namespace %j is rejected", async (ns) => {
    const config = { configurable: { thread_id: newId(), checkpoint_ns: ns } };
    const [first, second, late] = [nextId(), nextId(), nextId()];
    await putKnowing(storage(), config, first, "");
    await putKnowing(storage(), config, second, first);
    await expect(putKnowing(storage(), config, late, first)).rejects.toMatchObject({
      code: "thread_changed",
    });
    await expect(putKnowing(storage(), config, nextId(), "")).rejects.toMatchObject({
      code: "thread_changed",
    });
    expect(await idsOf(storage(), config)).toEqual([second, first]);
    const third = nextId();
    await putKnowing(storage(), config, third, second);
    expect(await idsOf(storage(), config)).toEqual([third, second, first]);
  });

  it("writes of a checkpoint that was never stored do not block later writers", async () => {
    const config = { configurable: { thread_id: newId(), checkpoint_ns: "" } };
    const [first, missing, next] = [nextId(), nextId(), nextId()];
    await putKnowing(storage(), config, first, "");
    const place = { configurable: { ...config.configurable, checkpoint_id: missing } };
    await storage().checkpointer.putWrites(place, [["channel", 1]], "task");
    await putKnowing(storage(), config, next, first);
    expect(await idsOf(storage(), config)).toEqual([next, first]);
  });

  it("a deleted thread has no newest checkpoint", async () => {
    const config = { configurable: { thread_id: newId(), checkpoint_ns: "" } };
    const [after, before] = [nextId(), nextId()];
    await putKnowing(storage(), config, before, "");
    await storage().checkpointer.deleteThread(config.configurable.thread_id);
    await putKnowing(storage(), config, after, "");
    expect(await idsOf(storage(), config)).toEqual([after]);
  });

  it.runIf(isAtomic)("only one of several writers with the same newest checkpoint succeeds", async () => {
    const config = { configurable: { thread_id: newId(), checkpoint_ns: "" } };
    const first = nextId();
    await putKnowing(storage(), config, first, "");
    const writers = Array.from({ length: 5 }, () => putKnowing(storage(), config, nextId(), first));
    const results = await Promise.allSettled(writers);
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await idsOf(storage(), config)).toHaveLength(2);
  });
}
