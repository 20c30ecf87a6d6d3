/** Packages that only those install who use what needs them. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { ConfigError, errorMessage } from "./errors.js";
import { managerOf, MANAGERS } from "./package-manager.js";

interface Need {
  /** Folder of the project, whose copy is used. */
  cwd: string;
  /** What needs the package, such as the setting that is on. */
  setting: string;
}

/**
 * A module of such a package: of the project's copy, else of one beside this package.
 * @throws ConfigError when there is none, or when it does not load (`config_invalid`)
 */
export function loadOptional<T>(id: string, { cwd, setting }: Need): T {
  const name = packageOf(id);
  for (const from of [join(cwd, "package.json"), import.meta.url]) {
    const require = createRequire(from);
    try {
      return require(id) as T;
    } catch (cause) {
      if (isMissing(cause, id)) continue;
      throw new ConfigError(`${setting}: ${name} does not load: ${errorMessage(cause)}`, { cause });
    }
  }
  throw new ConfigError(`${setting}: the package ${name} is not installed`, {
    hint: `install it in your project: ${MANAGERS[managerOf(cwd)].add} ${name}`,
  });
}

/** The package of a module: `@scope/name/file.js` is one of `@scope/name`. */
const packageOf = (id: string): string =>
  id
    .split("/")
    .slice(0, id.startsWith("@") ? 2 : 1)
    .join("/");

function isMissing(error: unknown, id: string): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "MODULE_NOT_FOUND" && errorMessage(error).includes(`'${id}'`);
}
