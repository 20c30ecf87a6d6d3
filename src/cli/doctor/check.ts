import { errorMessage, GraphServeError } from "../../errors.js";

export type CheckStatus = "ok" | "warn" | "fail";

/** A line of `doctor`. */
export interface Check {
  check: string;
  status: CheckStatus;
  detail: string;
  /** How to put it right; always there unless the status is ok. */
  fix?: string;
}

export const ok = (check: string, detail: string): Check => ({ check, status: "ok", detail });

export const warn = (check: string, detail: string, fix: string): Check => ({
  check,
  status: "warn",
  detail,
  fix,
});

/** What an error says, with the fix that it knows. */
export function failure(check: string, error: unknown, fallback: string): Check {
  const hint = error instanceof GraphServeError ? error.hint : undefined;
  return { check, status: "fail", detail: errorMessage(error), fix: hint ?? fallback };
}
