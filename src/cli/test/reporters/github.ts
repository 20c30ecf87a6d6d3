/** Annotations of GitHub Actions: each failure stands at its line of the pull request. */
import { failureLines } from "../failure-text.js";
import { shortPath } from "../../report-error.js";
import { listReporter } from "./list.js";
import type { Reporter, Reporting } from "./reporter.js";

export function githubReporter(reporting: Reporting): Reporter {
  const list = listReporter(reporting);
  const { write, cwd } = reporting;
  return {
    caseEnded: (result) => list.caseEnded?.(result),
    ended(report) {
      list.ended(report);
      for (const { name, failures, file } of report.cases) {
        for (const failure of failures) {
          const { file: place = file, line } = failure.location ?? {};
          const properties = {
            file: shortPath(place, cwd),
            ...(line !== undefined && { line: String(line) }),
            title: name,
          };
          write(command("error", properties, failureLines(failure, cwd).join("\n")));
        }
      }
      for (const fault of report.faults) write(command("error", {}, fault));
    },
  };
}

function command(name: string, properties: Record<string, string>, text: string): string {
  const texts = Object.entries(properties).map(
    ([key, value]) => `${key}=${data(value).replaceAll(":", "%3A").replaceAll(",", "%2C")}`,
  );
  return `::${name}${texts.length > 0 ? ` ${texts.join(",")}` : ""}::${data(text)}\n`;
}

const data = (text: string): string =>
  text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
