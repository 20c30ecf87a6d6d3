/** The token of `dev`'s Studio, kept in the project so that its address survives a restart. */
import { randomBytes } from "node:crypto";
import { lstat, readFile, rm, writeFile } from "node:fs/promises";
import { errorMessage } from "../../support/errors/thrown.js";
import { makeStateFolder, stateFile } from "../session/open.js";

const NAME = "studio-token";
const TOKEN = /^[0-9a-f]{32}$/;
/** Permissions of users other than the owner of the file. */
const OTHERS = 0o077;

/** 128 bits, as hexadecimal digits. */
export const newToken = (): string => randomBytes(16).toString("hex");

/**
 * The project's token. A file that is damaged, or that other users can read, is replaced.
 * @param warn called with the reason why the Studio has a new address
 */
export async function keptToken(baseDir: string, warn: (message: string) => void): Promise<string> {
  const file = stateFile(baseDir, NAME);
  const found = await readToken(file);
  if (found.token !== undefined) return found.token;
  const token = newToken();
  if (found.fault !== undefined)
    warn(`.graph-serve/${NAME} ${found.fault}: the token was replaced, so the Studio has a new address`);
  try {
    await makeStateFolder(baseDir);
    await rm(file, { force: true, recursive: true });
    await writeFile(file, `${token}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    warn(
      `the Studio's token cannot be kept, so its address changes at the next start: ${errorMessage(error)}`,
    );
  }
  return token;
}

/** `fault` is undefined if there is no file. */
async function readToken(file: string): Promise<{ token?: string; fault?: string }> {
  try {
    const { mode, uid } = await lstat(file);
    // Windows has no such permissions; a file in the user's folder is readable by the user alone.
    if (process.platform !== "win32") {
      if ((mode & OTHERS) !== 0) return { fault: "was readable by other users" };
      if (uid !== process.getuid?.()) return { fault: "belonged to another user" };
    }
    const token = (await readFile(file, "utf8")).trim();
    return TOKEN.test(token) ? { token } : { fault: "was damaged" };
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT"
      ? {}
      : { fault: `could not be read (${errorMessage(error)})` };
  }
}
