import { readFile } from "node:fs/promises";

/** The text of a file; undefined when there is no such file. Rejects where it is there and cannot be read. */
export async function readIfExists(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
