import type { StorageFlags } from "../commands/listen-options.js";

const SCHEMES: readonly [RegExp, string][] = [
  [/^postgres(ql)?:/i, "postgres"],
  [/^mongodb(\+srv)?:/i, "mongodb"],
  [/^rediss?:/i, "redis"],
];

/** The storage flags, with the scheme that a `--checkpointer-uri` alone says well enough. */
export function impliedScheme(flags: StorageFlags): StorageFlags {
  const { checkpointerScheme, checkpointerUri: uri } = flags;
  if (checkpointerScheme !== undefined || uri === undefined) return flags;
  const [, scheme = "sqlite"] = SCHEMES.find(([pattern]) => pattern.test(uri)) ?? [];
  return { ...flags, checkpointerScheme: scheme };
}
