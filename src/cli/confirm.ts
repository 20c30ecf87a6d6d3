import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { InvalidRequestError } from "../errors.js";
import type { Session } from "./session.js";

/**
 * Ask before something is lost; `--yes` answers. False when the answer is no.
 * @throws InvalidRequestError where nobody can be asked (`invalid_request`)
 */
export async function confirm({ io, flags, print }: Session, question: string): Promise<boolean> {
  if (flags.yes) return true;
  if (!io.stdin.isTTY || !print.isWatched) {
    throw new InvalidRequestError(`${question} Nobody can be asked here`, undefined, { hint: "add --yes" });
  }
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      io.stderr.write(String(chunk));
      done();
    },
  });
  const prompt = createInterface({ input: io.stdin, output });
  try {
    return /^y(es)?$/i.test((await prompt.question(`${question} [y/N] `)).trim());
  } finally {
    prompt.close();
  }
}
