/** Settings that say where threads are kept, and frames of runs go; part of ./settings.ts. */
import { Type } from "@sinclair/typebox";

export const SCHEMES = [
  "memory",
  "sqlite",
  "postgres",
  "postgresql",
  "mongodb",
  "mongo",
  "redis",
  "rediss",
] as const;

const text = (description: string, options = {}) => Type.Optional(Type.String({ description, ...options }));

export const storageSettings = {
  checkpointer_scheme: text(
    `Backend of both stores: ${SCHEMES.join(", ")}, or a module that opens one: ./my-storage.ts:openStorage.`,
    { default: "memory" },
  ),
  checkpointer_uri: text("Connection string of the backend; ignored when it is not of the scheme."),
  checkpointer_options: Type.Optional(
    Type.Object(
      {
        pool_max_size: Type.Optional(
          Type.Integer({
            minimum: 1,
            default: 10,
            description: "Connections of a relational server's pool.",
          }),
        ),
        schema: text("Schema of the tables, public when left out (postgres)."),
        statement_timeout_ms: Type.Optional(
          Type.Integer({
            minimum: 1,
            description: "Longest time of a statement, 10000 when left out (postgres).",
          }),
        ),
        prepare: Type.Optional(
          Type.Boolean({
            description: "False behind pgbouncer in transaction mode: no named statements (postgres).",
          }),
        ),
        lock_uri: text("Connection string that leads past a pooler, for the thread locks (postgres)."),
        allow_ephemeral_metadata: Type.Optional(
          Type.Boolean({
            description: "True to accept that thread and run rows end with the process (redis).",
          }),
        ),
        key_prefix: text('What every key begins with, "graph-serve:" when left out (redis).'),
        ttl_minutes: Type.Optional(
          Type.Number({
            exclusiveMinimum: 0,
            description: "Minutes that a thread's checkpoints stay after the last write (redis).",
          }),
        ),
      },
      { additionalProperties: true, description: "Options of the backend.", default: {} },
    ),
  ),
  stream: Type.Optional(
    Type.Unsafe<"memory" | "redis" | "postgres">({
      type: "string",
      enum: ["memory", "redis", "postgres"],
      default: "memory",
      description:
        "Where frames of runs are for those who read them: in the process of the run, or shared with all processes by Redis or PostgreSQL.",
    }),
  ),
  stream_uri: text(
    "Connection string for shared frames; that of the storage when left out, where it is of the same kind.",
  ),
};
