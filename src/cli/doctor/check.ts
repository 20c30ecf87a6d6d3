/** The result of one check. */
import { GraphServeError } from "../../support/errors.js";
import { errorMessage } from "../../support/errors/thrown.js";

export type CheckStatus = "ok" | "warn" | "fail";

/** A result of `doctor` and `validate`. */
export interface Check {
  check: string;
  status: CheckStatus;
  detail: string;
  /** How to fix it; set unless the status is ok. */
  fix?: string;
  /** The error of a failed check. */
  cause?: unknown;
}

export const ok = (check: string, detail: string): Check => ({ check, status: "ok", detail });

export const warn = (check: string, detail: string, fix: string): Check => ({
  check,
  status: "warn",
  detail,
  fix,
});

/** A failed check from an error, with the error's hint as its fix. */
export function failure(check: string, error: unknown, fallback: string): Check {
  const hint = error instanceof GraphServeError ? error.hint : undefined;
  return { check, status: "fail", detail: errorMessage(error), fix: hint ?? fallback, cause: error };
}

export function fixOf(notice: string): string {
  if (notice.includes("its own checkpointer")) return "compile it without a checkpointer";
  if (notice.includes("was not compiled")) return "export builder.compile()";
  return "see graph-serve validate";
}
