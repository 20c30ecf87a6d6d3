/** The storages that `migrate` works on, as flags and configuration name them. */
import type { LoadedConfig } from "../../config/load.js";
import { InvalidRequestError } from "../../errors.js";
import { isRecord } from "../../models/common.js";
import type { StoragePlace } from "../../migration.js";
import { parseJsonFlag } from "../flags.js";
import { impliedScheme } from "../source/implied-scheme.js";

export interface CopyFlags {
  from?: string;
  fromScheme?: string;
  fromOptions?: string;
  to?: string;
  toScheme?: string;
  toOptions?: string;
  overwrite?: boolean;
}

/** The configured storage. */
export function configuredPlace({ settings, baseDir }: LoadedConfig): StoragePlace {
  const { checkpointer_scheme, checkpointer_uri, checkpointer_options } = settings;
  return { checkpointer_scheme, checkpointer_uri, checkpointer_options, cwd: baseDir };
}

/**
 * The two storages of a copy. One that no flag names is the configured one.
 * @throws InvalidRequestError when no flag names either, or one is wrong (`invalid_request`)
 */
export function sidesOf(
  flags: CopyFlags,
  configured: StoragePlace,
  cwd: string,
): Record<"from" | "to", StoragePlace> {
  const from = sideOf(
    "--from",
    { uri: flags.from, scheme: flags.fromScheme, options: flags.fromOptions },
    cwd,
  );
  const to = sideOf("--to", { uri: flags.to, scheme: flags.toScheme, options: flags.toOptions }, cwd);
  if (!from && !to) {
    throw new InvalidRequestError("migrate copy needs --from, --to, or both", undefined, {
      hint: "graph-serve migrate copy --from ./threads.db --to postgresql://user:password@host:5432/database",
    });
  }
  return { from: kept("--from", from ?? configured), to: kept("--to", to ?? configured) };
}

interface SideFlags {
  uri?: string;
  scheme?: string;
  options?: string;
}

function sideOf(flag: string, { uri, scheme, options }: SideFlags, cwd: string): StoragePlace | undefined {
  if (uri === undefined && scheme === undefined) {
    if (options === undefined) return undefined;
    throw new InvalidRequestError(`${flag}-options needs ${flag}`);
  }
  const { checkpointerScheme = "" } = impliedScheme({ checkpointerScheme: scheme, checkpointerUri: uri });
  return {
    checkpointer_scheme: checkpointerScheme,
    checkpointer_uri: uri,
    checkpointer_options: options === undefined ? {} : optionsOf(`${flag}-options`, options),
    cwd,
  };
}

function optionsOf(flag: string, text: string): Record<string, unknown> {
  const options = parseJsonFlag(flag, text);
  if (isRecord(options)) return options;
  throw new InvalidRequestError(`${flag} is no JSON object: ${text}`);
}

/** @throws InvalidRequestError when it is memory (`invalid_request`) */
function kept(flag: string, place: StoragePlace): StoragePlace {
  if (place.checkpointer_scheme !== "memory") return place;
  throw new InvalidRequestError("scheme memory keeps nothing that could be copied", undefined, {
    hint: `name a storage with ${flag}`,
  });
}
