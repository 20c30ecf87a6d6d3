import { mkdir, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/** A file that a command writes when its work is done. */
export interface ReportFile {
  write(text: string): Promise<void>;
}

/**
 * Creates the file and its folders before the work begins: a wrong path must not cost the result of runs that took time
 * and money. Undefined if no file is named.
 * @throws NodeJS.ErrnoException if it cannot be written
 */
export async function createReport(cwd: string, path: string | undefined): Promise<ReportFile | undefined> {
  if (path === undefined) return undefined;
  const file = resolve(cwd, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, "");
  return { write: (text) => writeFile(file, text) };
}
