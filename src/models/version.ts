import type { Static } from "@sinclair/typebox";
import { Type } from "../support/schema-builder.js";
import { Nullable, StringEnum } from "./common.js";
import type { ThreadStatus } from "./thread-fields.js";

export const ThreadVersionModel = Type.Object(
  {
    thread_id: Type.String({ description: "Id of the thread." }),
    graph_id: Nullable(Type.String(), {
      description: "Graph that last ran on the thread; null if none has.",
    }),
    version: Nullable(Type.String(), {
      description: "Version of its graph when it last ran; null if that is not known.",
    }),
    served_version: Nullable(Type.String(), {
      description: "Version of the graph that is served now; null if it is not served, or has none.",
    }),
    problems: Type.Array(
      Type.Object({
        kind: StringEnum(["node", "edge", "state", "migration"], {
          description:
            "node, edge: the next task of the thread would be skipped. state: the graph cannot read a stored value. migration: a migration that applies fails.",
        }),
        message: Type.String({ description: "The problem, without values of the state." }),
      }),
      { description: "Why the thread cannot continue on the served graph; empty if it can." },
    ),
    migrations: Type.Array(Type.String(), {
      description: "Migrations that convert the thread when it is next used, by their `from`.",
    }),
    unchecked: Nullable(Type.String(), {
      description: "Why the thread could not be checked; null if it was, or has no state.",
    }),
  },
  {
    title: "ThreadVersionModel",
    description: "Whether a thread can continue on the graph that is served now.",
  },
);
export type ThreadVersion = Static<typeof ThreadVersionModel>;

/** A version of a graph, and what belongs to it. */
export interface GraphVersion {
  graph_id: string;
  /** Null for threads that were last run by a release without versions. */
  version: string | null;
  /** Whether the graph that is served now has this version. */
  is_current: boolean;
  threads: number;
  /** Threads that wait for an answer or at a breakpoint. */
  interrupted: number;
  /** Runs that have not ended. */
  open_runs: number;
  last_used_at: string | null;
}

/** The version of its graph in the metadata of a thread, run or checkpoint; null if there is none. */
export const versionIn = (metadata: object | undefined): string | null => {
  const { graph_version } = { ...metadata } as { graph_version?: unknown };
  return typeof graph_version === "string" ? graph_version : null;
};

/** Why a thread cannot continue on a graph as before. */
export interface VersionProblem {
  /**
   * `node` and `edge`: its next task would be skipped. `key` and `schema`: the graph cannot read a value. `migration`: a
   * migration that applies to it fails.
   */
  kind: "node" | "edge" | "key" | "schema" | "migration";
  /** The node, with those of its parent graphs, or the path of the value. */
  place: string;
  message: string;
}

export interface ThreadCheck {
  thread_id: string;
  graph_id: string | null;
  version: string | null;
  status: ThreadStatus;
  updated_at: string;
  problems: VersionProblem[];
  /** The migrations that convert it when it is next used, by their `from`; the problems are those after it. */
  migrations: string[];
  /** Why the thread could not be checked; null if it was. */
  unchecked: string | null;
}

/** What the migrations do, or would do, with a stored thread. */
export interface ThreadMigration {
  thread_id: string;
  graph_id: string;
  /** Null if the thread was last run by a release without versions. */
  from: string | null;
  to: string;
  /** The migrations by their `from`, in their order. */
  migrations: string[];
  /** `pending`: a dry run. `failed`: the thread is as it was. `busy`: a run is active on it, and converts what follows. */
  outcome: "migrated" | "pending" | "failed" | "busy";
  /** Why the migration failed; null if it did not. */
  error: string | null;
}
