/** Compares the wall clock of this process with the database's. Checkpoints and timers are ordered by wall clock. */
import type { Storage, StorageFinding } from "../storage/contract/storage.js";
import type { OpsContext } from "./context.js";

/** Difference from which the clock is reported, in seconds. Machines that run NTP stay far below it. */
const REPORTED_S = 1;

/**
 * Seconds by which this process's clock is ahead of the database's; negative if it is behind. Accurate to half of the
 * round trip. Undefined for a storage without its own clock.
 */
export async function clockDifference({ now }: Pick<Storage, "now">): Promise<number | undefined> {
  if (!now) return undefined;
  const [sent, theirs, received] = [Date.now(), await now(), Date.now()];
  return Math.round((sent + received) / 2 - theirs) / 1000;
}

/** The `doctor` result for the clock; undefined for a storage without its own clock. */
export async function clockFinding(storage: Pick<Storage, "now">): Promise<StorageFinding | undefined> {
  const difference = await clockDifference(storage);
  if (difference === undefined) return undefined;
  const isOk = Math.abs(difference) < REPORTED_S;
  return {
    name: "clock",
    ok: isOk,
    detail: describe(difference),
    ...(!isOk && { fix: "synchronize the clocks of all servers and of the database (NTP)" }),
  };
}

function describe(difference: number): string {
  const seconds = `${Math.abs(difference).toFixed(1)} s`;
  if (Math.abs(difference) < REPORTED_S) return `within ${seconds} of the database's clock`;
  return `this machine's clock is ${seconds} ${difference > 0 ? "ahead of" : "behind"} the database's`;
}

/** Logs when the clock starts to differ from the database's, and when it agrees again. */
export class ClockWatch {
  #isOff = false;

  async check({ storage, logger }: Pick<OpsContext, "storage" | "logger">): Promise<void> {
    const difference = await clockDifference(storage);
    if (difference === undefined) return;
    const isOff = Math.abs(difference) >= REPORTED_S;
    if (isOff === this.#isOff) return;
    this.#isOff = isOff;
    const fields = { clock_difference_seconds: difference };
    if (isOff)
      logger.warn(
        fields,
        `${describe(difference)}: requests to threads with a newer timestamp wait or are rejected with 503 clock_behind; synchronize the clocks (NTP)`,
      );
    else logger.info(fields, "this machine's clock agrees with the database's again");
  }
}
