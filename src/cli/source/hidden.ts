import type { Thread } from "../../models/thread.js";
import type { Printer } from "../print.js";
import type { Source } from "./source.js";

/** Say why no values are shown, where the graph of one of these threads does not load. */
export function warnHidden(
  print: Printer,
  source: Source,
  threads: readonly Partial<Pick<Thread, "metadata">>[],
): void {
  const reasons = new Set(threads.map((thread) => source.whyHidden(thread)));
  for (const reason of reasons) {
    if (reason === undefined) continue;
    print.warn(`values hidden: the graph does not load (${reason}); --raw shows them`);
  }
}
