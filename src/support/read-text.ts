import { readFile } from "node:fs/promises";

/** Text of a file; undefined if it does not exist. Rejects if it exists and cannot be read. */
export async function readIfExists(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
