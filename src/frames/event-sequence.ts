/** Places of events along a thread: numbers that only grow, over runs, processes and restarts. */

/** Places in a millisecond. */
const PLACES = 4096;
/** Of these, so many for what follows a checkpoint of the same millisecond. */
const PLACES_A_STEP = 64;

const msOf = (time: string): number => Date.parse(time);

/** When what has this place happened, at the latest: places are given by time. */
export const msOfSequence = (place: number): number => Math.floor(place / PLACES);

/** The first place of a run that was accepted then. */
export const sequenceOfStart = (createdAt: string): number => msOf(createdAt) * PLACES;

/** The place of a run's last event, by when its row says that it ended. */
export const sequenceOfEnd = (updatedAt: string): number => msOf(updatedAt) * PLACES + PLACES - 1;

/** The place of a checkpoint, by its id, which tells when it was made. Undefined for ids of another kind. */
export function sequenceOfCheckpoint({ id, step }: { id: string; step: number }): number | undefined {
  const ms = msOfUuid6(id);
  const turn = Number.isInteger(step) ? ((step % PLACES_A_STEP) + PLACES_A_STEP) % PLACES_A_STEP : 0;
  return ms === undefined ? undefined : ms * PLACES + turn * PLACES_A_STEP;
}

const UUID6 = /^([0-9a-f]{8})-([0-9a-f]{4})-6([0-9a-f]{3})-/;
/** From the beginning of the Gregorian calendar, from which such ids count, to 1970. */
const EPOCH_MS = 12_219_292_800_000;
const TICKS_A_MS = 10_000n;

function msOfUuid6(id: string): number | undefined {
  const parts = UUID6.exec(id);
  if (!parts) return undefined;
  const ticks = BigInt(`0x${parts[1]}${parts[2]}${parts[3]}`);
  return Number(ticks / TICKS_A_MS) - EPOCH_MS;
}
