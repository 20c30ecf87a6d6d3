/** Reads a file that `export` wrote. */
import { readFile } from "node:fs/promises";
import { type ThreadFile, threadFileFault } from "../../models/thread-file.js";
import { errorMessage, InvalidRequestError } from "../../support/errors.js";

/** @throws InvalidRequestError if it is not such a file (`invalid_request`) */
export async function readThreadFile(path: string, file: string): Promise<ThreadFile> {
  const refuse = (why: string, cause?: unknown) =>
    new InvalidRequestError(`${file} cannot be imported: ${why}`, undefined, {
      hint: "use a file written by graph-serve export",
      cause,
    });
  let content: unknown;
  try {
    content = JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    throw refuse(errorMessage(error), error);
  }
  const fault = threadFileFault(content);
  if (fault !== undefined) throw refuse(fault);
  return content as ThreadFile;
}
