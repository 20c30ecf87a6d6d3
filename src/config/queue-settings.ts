/** Settings that share runs out among processes; part of ./settings.ts. */
import { Type } from "@sinclair/typebox";
import { ConfigError } from "../support/errors.js";

export const queueSettings = {
  queue: Type.Optional(
    Type.Unsafe<"none" | "postgres">({
      type: "string",
      enum: ["none", "postgres"],
      default: "none",
      description:
        "Where runs wait: none, each process executes what it accepts; postgres, in the storage, for whichever process has room.",
    }),
  ),
  role: Type.Optional(
    Type.Unsafe<"all" | "api" | "worker">({
      type: "string",
      enum: ["all", "api", "worker"],
      default: "all",
      description:
        "What the process does: all; api, take requests and execute no runs; worker, execute runs and serve /ok, /ready and /metrics alone. Other than all needs a queue and a shared stream.",
    }),
  ),
  max_concurrent_runs: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: 10,
      description: "Runs that a process executes at once, where there is a queue.",
    }),
  ),
  max_attempts: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: 3,
      description: "Processes that may die over a run; then it ends as error.",
    }),
  ),
  max_waiting_runs: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        "Runs of all threads that may wait in the queue; beyond it, 429. Any number when left out.",
    }),
  ),
  max_waiting_runs_per_user: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        "The same for the runs of one user, or of users with one scope, who alone get 429 then. Any number when left out, and without users.",
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

/** @throws ConfigError when the settings do not go together (`config_invalid`) */
export function assertQueue(settings: QueueSettings): void {
  const { queue, role, checkpointer_scheme, stream, resume_runs } = settings;
  if (queue === "none") {
    if (role === "all") return;
    throw new ConfigError(`role ${role} needs a queue, and the setting queue is none`, {
      hint: "set queue to postgres, or role to all",
    });
  }
  if (checkpointer_scheme !== "postgres" && checkpointer_scheme !== "postgresql")
    throw new ConfigError(
      `queue ${queue} needs the storage postgres, and checkpointer_scheme is ${checkpointer_scheme}`,
      { hint: "set checkpointer_scheme to postgres, or queue to none" },
    );
  if (!resume_runs)
    throw new ConfigError(`queue ${queue} hands runs on, and resume_runs is false`, {
      hint: "leave resume_runs out, or set queue to none",
    });
  if (role !== "all" && stream === "memory")
    throw new ConfigError(
      `role ${role} needs frames that processes share, and the setting stream is memory`,
      {
        hint: "set stream to redis or postgres, or role to all",
      },
    );
}
