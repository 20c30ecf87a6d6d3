import { countOf } from "../../../testing/result.js";
import { errorDocument } from "../../report-error.js";
import type { Reporter, Reporting } from "./reporter.js";

/** One document with everything. */
export function jsonReporter({ write }: Reporting): Reporter {
  return {
    ended({ cases, durationMs, stoppedBy, coverage, faults }) {
      const items = cases.map(({ fault, failures, ...result }) => ({
        ...result,
        durationMs: Math.round(result.durationMs),
        failures: failures.map(({ location, ...failure }) => ({
          ...failure,
          ...(location && { file: location.file, line: location.line }),
        })),
        ...(fault && errorDocument(fault)),
      }));
      const document = {
        summary: { ...countOf({ cases }), durationMs: Math.round(durationMs), stoppedBy: stoppedBy ?? null },
        cases: items,
        ...(coverage && { coverage }),
        faults,
      };
      write(`${JSON.stringify(document, null, 2)}\n`);
    },
  };
}
