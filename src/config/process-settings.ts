/** Several server processes on one port, with `start` and `worker`. */
import { Type } from "../support/schema-builder.js";
import { ConfigError } from "../support/errors.js";
import { storageModule } from "../support/module-target.js";
import { choice } from "./choice.js";
import { capabilitiesOf, schemesWith } from "./storage-capabilities.js";

const MAX_PROCESSES = 64;
export const PROCESSES_HINT = `set processes to a number from 1 to ${MAX_PROCESSES}, at most one per CPU core`;

export const processSettings = {
  processes: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_PROCESSES,
      default: 1,
      description:
        "Number of processes that start and worker run on one port; more than 1 needs the storage postgres or mongodb and a shared stream.",
    }),
  ),
};

interface ProcessSettings {
  processes: number;
  checkpointer_scheme: string;
  stream: string;
}

/** With several processes, frames are shared through PostgreSQL unless `stream` says otherwise. */
export function processDefaults({
  processes = 1,
  checkpointer_scheme = "memory",
}: Partial<ProcessSettings>): { stream?: "postgres" } {
  if (processes === 1) return {};
  const { shared, frames } = capabilitiesOf(checkpointer_scheme) ?? {};
  return shared && frames ? { stream: "postgres" } : {};
}

/** @throws ConfigError if the storage or the stream cannot be shared (`config_invalid`) */
export function assertProcesses({ processes, checkpointer_scheme: scheme, stream }: ProcessSettings): void {
  if (processes === 1) return;
  if (!capabilitiesOf(scheme)?.shared)
    throw new ConfigError(
      `processes ${processes} needs a storage that processes can share, and checkpointer_scheme is ${scheme}: ${reason(scheme)}`,
      { hint: `set checkpointer_scheme to ${schemesWith("shared")}, or processes to 1` },
    );
  if (stream === "memory")
    throw new ConfigError(
      `processes ${processes} needs a stream that processes can share, and the setting stream is memory: a client that reconnects can reach a process that does not have the frames of its run`,
      { hint: "set stream to redis or postgres, or processes to 1" },
    );
}

function reason(scheme: string): string {
  if (scheme === "memory") return "each process would have its own threads";
  return storageModule(scheme) === undefined
    ? `${scheme} locks threads only within one process`
    : "it is unknown whether several processes can share a custom storage";
}

/** Settings of the log. */
export const logSettings = {
  log_level: choice<"debug" | "info" | "warn" | "error" | "silent">(
    ["debug", "info", "warn", "error", "silent"],
    "Minimum level of log messages.",
    "info",
  ),
  log_level_format: choice<"number" | "word">(
    ["number", "word"],
    "Field `level` of the JSON log: number, such as 30; or word, such as info.",
  ),
  log_time_format: choice<"epoch" | "iso">(
    ["epoch", "iso"],
    "Field `time` of the JSON log: epoch, milliseconds since 1970; or iso, such as 2026-01-31T12:00:00.000Z.",
  ),
};
