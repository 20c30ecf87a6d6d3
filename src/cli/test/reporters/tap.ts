/** TAP, version 14. */
import type { CaseResult } from "../../../testing/result.js";
import { shortPath } from "../../report-error.js";
import { placeOf } from "../failure-text.js";
import type { Reporter, Reporting } from "./reporter.js";

export function tapReporter({ write, cwd }: Reporting): Reporter {
  let count = 0;
  const title = ({ file, name }: CaseResult) =>
    `${shortPath(file, cwd)} > ${name}`
      .replace(/[\r\n]+/g, " ")
      .replaceAll("\\", "\\\\")
      .replaceAll("#", "\\#");
  const line = (ok: boolean, text: string, rest = "") => {
    if (count === 0) write("TAP version 14\n");
    count += 1;
    write(`${ok ? "ok" : "not ok"} ${count} - ${text}${rest}\n`);
  };
  return {
    caseEnded(result) {
      const { status, note, failures } = result;
      const skip = status === "skipped" || status === "stopped" ? ` # SKIP ${note ?? status}` : "";
      line(status !== "failed", title(result), skip);
      if (failures.length > 0) write(diagnostics(result, cwd));
    },
    ended({ faults, stoppedBy }) {
      for (const fault of faults) line(false, fault);
      if (count === 0) write("TAP version 14\n");
      write(stoppedBy === undefined ? `1..${count}\n` : `Bail out! stopped by ${stoppedBy}\n`);
    },
  };
}

/** A YAML block; JSON is YAML. */
function diagnostics({ failures, nodes }: CaseResult, cwd: string): string {
  const shown = failures.map(({ location, ...failure }) => ({
    ...failure,
    ...(location && { at: placeOf(location, cwd) }),
  }));
  return `  ---\n  ${JSON.stringify({ failures: shown, nodes })}\n  ...\n`;
}
