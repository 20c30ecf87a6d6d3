import { mkdir, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { shortPath } from "./report-error.js";
import type { Session } from "./session.js";

/** A file that a command writes when its work is done. */
export interface ReportFile {
  /** Also prints a note with the name of the file. */
  write(text: string): Promise<void>;
}

/**
 * Creates the file and its folders before the work begins: a wrong path must not cost the result of runs that took time
 * and money. Undefined if no file is named.
 * @throws NodeJS.ErrnoException if it cannot be written
 */
export async function createReport(
  { io, print }: Pick<Session, "io" | "print">,
  path: string | undefined,
): Promise<ReportFile | undefined> {
  if (path === undefined) return undefined;
  const file = resolve(io.cwd, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, "");
  return {
    async write(text) {
      await writeFile(file, text);
      print.note(`wrote ${shortPath(file, io.cwd)}`);
    },
  };
}
