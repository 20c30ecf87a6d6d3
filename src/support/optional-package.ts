/** Loads optional packages. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { ConfigError } from "./errors.js";
import { errorMessage, tryOr } from "./errors/thrown.js";
import { managerOf, MANAGERS } from "./package-manager.js";

interface Need {
  /** Project folder, whose copy of the package is used. */
  cwd: string;
  /** What needs the package, such as the name of a setting. */
  setting: string;
  /** All packages to install, if several are needed. Default: the one that is missing. */
  install?: readonly string[];
}

/** The package of the setting queue. Triggers write to its tables, which change with its major version. */
export const engineNeed = (cwd: string): Need => ({
  cwd,
  setting: "queue postgres",
  install: ["pg-boss@12"],
});

/**
 * Loads a module of an optional package: from the project's copy, or from one installed next to
 * this package.
 * @throws ConfigError if the package is missing or does not load (`config_invalid`)
 */
export function loadOptional<T>(id: string, { cwd, setting, install }: Need): T {
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
    hint: `install it in your project: ${MANAGERS[managerOf(cwd)].add} ${(install ?? [name]).join(" ")}`,
  });
}

/** Like `loadOptional`, for a package that only adds to a setting: undefined if it is not installed. */
export function loadIfInstalled<T>(id: string, need: Need): T | undefined {
  for (const from of [join(need.cwd, "package.json"), import.meta.url]) {
    const found = tryOr(() => createRequire(from).resolve(id));
    if (found !== undefined) return loadOptional<T>(id, need);
  }
  return undefined;
}

/** Package name of a module id: `@scope/name/file.js` belongs to `@scope/name`. */
const packageOf = (id: string): string =>
  id
    .split("/")
    .slice(0, id.startsWith("@") ? 2 : 1)
    .join("/");

function isMissing(error: unknown, id: string): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "MODULE_NOT_FOUND" && errorMessage(error).includes(`'${id}'`);
}
