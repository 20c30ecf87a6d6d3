/** Which failures of a run are retried, and when (docs/specification.md#streams, 7). */
import { tryOr, causesOf, errorMessage } from "../support/errors/thrown.js";
import { pause } from "../support/pause.js";

export const MAX_ATTEMPTS = 3;
const FIRST_PAUSE_MS = 2000;

const CODES = /^(ECONNRESET|ECONNREFUSED|ETIMEDOUT|EPIPE|EAI_AGAIN|UND_ERR_\w+)$/;
const MESSAGE = /fetch failed|socket hang up|connection (error|reset|refused|closed|timed out)/i;

function isNetworkError(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === "string" && CODES.test(code);
}

/** True for network failures, the only ones that are retried. Never throws. */
export function isTransient(error: unknown): boolean {
  if (tryOr(() => error instanceof Error) && MESSAGE.test(errorMessage(error))) return true;
  return causesOf(error).some((cause) => tryOr(() => isNetworkError(cause)) ?? false);
}

/** Waits before the next attempt: 2 s, then 4 s. Rejects with the signal's reason when it aborts. */
export function pauseBefore(attempt: number, signal: AbortSignal): Promise<void> {
  return pause(FIRST_PAUSE_MS * 2 ** (attempt - 2), signal);
}
