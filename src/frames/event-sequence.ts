/** Sequence numbers of a thread's events. They increase across runs, processes and restarts. */

const SEQUENCES_PER_MS = 4096;
/** Numbers reserved per superstep: several checkpoints may share a millisecond. */
const SEQUENCES_PER_STEP = 64;

const msOf = (time: string): number => Date.parse(time);

/** The latest time at which the event can have happened, in milliseconds since 1970. */
export const msOfSequence = (sequence: number): number => Math.floor(sequence / SEQUENCES_PER_MS);

/** The first sequence number of a run, from the time at which it was accepted. */
export const sequenceOfStart = (createdAt: string): number => msOf(createdAt) * SEQUENCES_PER_MS;

/** The sequence number of a run's last event, from the end time in its row. */
export const sequenceOfEnd = (updatedAt: string): number =>
  msOf(updatedAt) * SEQUENCES_PER_MS + SEQUENCES_PER_MS - 1;

/** The sequence number of a checkpoint, from the timestamp in its id. Undefined if the id is not a UUID version 6. */
export function sequenceOfCheckpoint({ id, step }: { id: string; step: number }): number | undefined {
  const ms = msOfUuid6(id);
  const offset = Number.isInteger(step)
    ? ((step % SEQUENCES_PER_STEP) + SEQUENCES_PER_STEP) % SEQUENCES_PER_STEP
    : 0;
  return ms === undefined ? undefined : ms * SEQUENCES_PER_MS + offset * SEQUENCES_PER_STEP;
}

const UUID6 = /^([0-9a-f]{8})-([0-9a-f]{4})-6([0-9a-f]{3})-/;
/** Milliseconds from the start of the Gregorian calendar, the epoch of version 6 UUIDs, to 1970. */
const EPOCH_MS = 12_219_292_800_000;
const TICKS_PER_MS = 10_000n;

function msOfUuid6(id: string): number | undefined {
  const parts = UUID6.exec(id);
  if (!parts) return undefined;
  const ticks = BigInt(`0x${parts[1]}${parts[2]}${parts[3]}`);
  return Number(ticks / TICKS_PER_MS) - EPOCH_MS;
}
