/** Settings that distribute runs across processes. */
import { Type } from "../support/schema-builder.js";
import { ConfigError } from "../support/errors.js";
import { choice } from "./choice.js";
import { capabilitiesOf, schemesWith } from "./storage-capabilities.js";

export const queueSettings = {
  queue: choice<"none" | "postgres">(
    ["none", "postgres"],
    "Queue of runs: none, each process executes the runs it accepts; postgres, runs wait in the storage and any process with free capacity claims them; needs the package pg-boss.",
  ),
  role: choice<"all" | "api" | "worker">(
    ["all", "api", "worker"],
    "Role of the process: all; api, serve requests without executing runs; worker, execute runs and serve only /ok, /ready and /metrics. api and worker need a queue and a shared stream.",
  ),
  max_concurrent_runs: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: 10,
      description:
        "Maximum number of runs that a process executes concurrently. Applies only with a queue; without one, use max_active_runs.",
    }),
  ),
  max_attempts: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: 3,
      description:
        "Maximum number of attempts: after that many process crashes, the run fails instead of being retried.",
    }),
  ),
  max_waiting_runs: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        "Maximum number of runs waiting in the queue, over all threads; beyond it, 429. Default: unlimited.",
    }),
  ),
  max_waiting_runs_per_user: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        "Maximum number of waiting runs of one user, or of all users with the same scope; beyond it, only they get 429. Default: unlimited; no effect without users.",
    }),
  ),
};

interface QueueSettings {
  queue: "none" | "postgres";
  role: "all" | "api" | "worker";
  checkpointer_scheme: string;
  stream: string;
  resume_runs: boolean;
}

/** @throws ConfigError if the settings contradict each other (`config_invalid`) */
export function assertQueue(settings: QueueSettings): void {
  const { queue, role, checkpointer_scheme, stream, resume_runs } = settings;
  if (queue === "none") {
    if (role === "all") return;
    throw new ConfigError(`role ${role} needs a queue, and the setting queue is none`, {
      hint:
        role === "worker"
          ? "set queue to postgres, or role to all, as graph-serve start does"
          : "set queue to postgres, or role to all",
    });
  }
  if (!capabilitiesOf(checkpointer_scheme)?.queue)
    throw new ConfigError(
      `queue ${queue} needs the storage ${schemesWith("queue")}, and checkpointer_scheme is ${checkpointer_scheme}`,
      { hint: `set checkpointer_scheme to ${schemesWith("queue")}, or queue to none` },
    );
  if (!resume_runs)
    throw new ConfigError(`queue ${queue} needs resume_runs, and resume_runs is false`, {
      hint: "remove resume_runs, or set queue to none",
    });
  if (role !== "all" && stream === "memory")
    throw new ConfigError(
      `role ${role} needs a stream shared between processes, and the setting stream is memory`,
      {
        hint: "set stream to redis or postgres, or role to all",
      },
    );
}
