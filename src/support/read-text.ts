import { readFile } from "node:fs/promises";

/** Editors and shells on Windows write it at the beginning of a file; no parser of JSON accepts it. */
export const BYTE_ORDER_MARK = /^\uFEFF/;

/** Text of a file without its byte order mark. Rejects if it cannot be read. */
export async function readText(file: string): Promise<string> {
  return (await readFile(file, "utf8")).replace(BYTE_ORDER_MARK, "");
}

/** Like `readText`, but undefined if the file does not exist. */
export async function readIfExists(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, "utf8")).replace(BYTE_ORDER_MARK, "");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
