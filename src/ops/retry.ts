/** Which failures may be tried again, and when (spec, Stream modes 7). */
import { setTimeout as sleep } from "node:timers/promises";
import { errorMessage } from "../errors.js";

export const MAX_ATTEMPTS = 3;
const FIRST_PAUSE_MS = 2000;

const CODES = /^(ECONNRESET|ECONNREFUSED|ETIMEDOUT|EPIPE|EAI_AGAIN|UND_ERR_\w+)$/;
const MESSAGE = /fetch failed|socket hang up|connection (error|reset|refused|closed|timed out)/i;

function hasNetworkCode(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  return (typeof code === "string" && CODES.test(code)) || (cause !== error && hasNetworkCode(cause));
}

/** True for failures of the network: the only ones that another attempt may mend. */
export function isTransient(error: unknown): boolean {
  return hasNetworkCode(error) || (error instanceof Error && MESSAGE.test(errorMessage(error)));
}

/** Wait before the next attempt: 2 s, then 4 s. Rejects with the signal's reason when it aborts. */
export async function pauseBefore(
  attempt: number,
  signal: AbortSignal,
  firstPauseMs = FIRST_PAUSE_MS,
): Promise<void> {
  try {
    await sleep(firstPauseMs * 2 ** (attempt - 2), undefined, { signal });
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}
