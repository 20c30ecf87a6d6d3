/** Graph target on the command line: `./graph.ts`, `./graph.ts:exportName`, or a key of `graphs`. */
import { basename, extname, isAbsolute, relative, resolve } from "node:path";
import { ConfigError } from "../support/errors.js";
import { parseModuleTarget, type ModuleTarget } from "../support/module-target.js";
import { didYouMean } from "../support/nearest.js";

type GraphTarget = ModuleTarget;

export const parseGraphTarget: (text: string) => GraphTarget = parseModuleTarget;

interface GraphSelection {
  graphs: Record<string, string>;
  default_assistant_id: string;
}

/**
 * Selects the graphs given on the command line. A key of `configured` makes that graph the default.
 * Files are served under their base names in the given order; the first one is the default.
 * @throws ConfigError if a target is neither a key nor a file (`config_invalid`)
 */
export function selectGraphs(
  targets: readonly string[],
  configured: Readonly<Record<string, string>>,
  folders: { cwd: string; baseDir: string },
): GraphSelection {
  const chosen: Record<string, string> = {};
  for (const target of targets) {
    if (Object.hasOwn(configured, target)) chosen[target] = configured[target] as string;
    else chosen[freeId(fileId(target, configured), chosen)] = fileSource(target, folders);
  }
  const [first = ""] = Object.keys(chosen);
  const onlyKeys = targets.every((target) => Object.hasOwn(configured, target));
  return {
    graphs: onlyKeys ? { ...configured } : chosen,
    default_assistant_id: onlyKeys ? (targets[0] ?? first) : first,
  };
}

/** Graph id of a file: its base name, or `agent` for generic names. */
function fileId(target: string, configured: Readonly<Record<string, string>>): string {
  const { path } = parseGraphTarget(target);
  if (!/[\\/]/.test(path) && !/\.[cm]?[jt]sx?$/.test(path))
    throw neitherKeyNorFile(target, Object.keys(configured));
  const name = basename(path.replaceAll("\\", "/"), extname(path));
  return name === "graph" || name === "index" ? "agent" : name;
}

/** Error for a target that is neither a key of `graphs` nor a file path. */
export function neitherKeyNorFile(target: string, keys: readonly string[]): ConfigError {
  const known = keys.length > 0 ? `the graphs: ${keys.join(", ")}` : "name a file, such as ./graph.ts:graph";
  return new ConfigError(`"${target}" is neither a graph of the configuration nor a file`, {
    hint: didYouMean(target, keys) ?? known,
  });
}

function freeId(id: string, taken: Record<string, string>): string {
  let candidate = id;
  for (let number = 2; Object.hasOwn(taken, candidate); number += 1) candidate = `${id}-${number}`;
  return candidate;
}

/** Converts `source`, which is relative to `baseDir`, to a target for a command run in `cwd`. */
export function targetFrom(source: string, { cwd, baseDir }: { cwd: string; baseDir: string }): string {
  return fileSource(source, { cwd: baseDir, baseDir: cwd });
}

/** The target relative to the folder that graph paths resolve against. */
function fileSource(target: string, { cwd, baseDir }: { cwd: string; baseDir: string }): string {
  if (cwd === baseDir) return target;
  const { path, exportName } = parseGraphTarget(target);
  const fromBase = relative(baseDir, resolve(cwd, path)).replaceAll("\\", "/");
  const source = isAbsolute(fromBase) || fromBase.startsWith("..") ? fromBase : `./${fromBase}`;
  return exportName === undefined ? source : `${source}:${exportName}`;
}
