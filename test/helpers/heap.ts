import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Bytes that are in use when all that can be collected is, buffers included. */
export async function bytesInUse(): Promise<number> {
  for (let round = 0; round < 3; round += 1) {
    await nextTurn();
    collect();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
