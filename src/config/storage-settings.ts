/** Settings for the storage of threads and the stream of run frames. */
import { Type } from "../support/schema-builder.js";
import { choice } from "./choice.js";

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
    `Storage backend: ${SCHEMES.join(", ")}, or a module that opens one, such as ./my-storage.ts:openStorage.`,
    { default: "memory" },
  ),
  checkpointer_uri: text("Connection string of the backend; ignored if it does not match the scheme."),
  checkpointer_options: Type.Optional(
    Type.Object(
      {
        pool_max_size: Type.Optional(
          Type.Integer({
            minimum: 1,
            default: 10,
            description: "Maximum number of connections in the pool (postgres).",
          }),
        ),
        schema: text("Schema of the tables (postgres). Default: public."),
        statement_timeout_ms: Type.Optional(
          Type.Integer({
            minimum: 1,
            description: "Statement timeout in milliseconds (postgres). Default: 10000.",
          }),
        ),
        prepare: Type.Optional(
          Type.Boolean({
            description:
              "Set to false behind pgbouncer in transaction mode: disables named statements (postgres).",
          }),
        ),
        lock_uri: text("Connection string that bypasses a pooler, for the thread locks (postgres)."),
        allow_ephemeral_metadata: Type.Optional(
          Type.Boolean({
            description:
              "Set to true to accept that thread and run rows are lost when the process ends (redis).",
          }),
        ),
        key_prefix: text('Prefix of every key (redis). Default: "graph-serve:".'),
        ttl_minutes: Type.Optional(
          Type.Number({
            exclusiveMinimum: 0,
            description: "Minutes after the last write until a thread's checkpoints expire (redis).",
          }),
        ),
      },
      { additionalProperties: true, description: "Options of the backend.", default: {} },
    ),
  ),
  stream: choice<"memory" | "redis" | "postgres">(
    ["memory", "redis", "postgres"],
    "Where frames of runs are kept for readers: in the memory of the run's process, or shared between processes through Redis or PostgreSQL.",
  ),
  stream_uri: text(
    "Connection string for shared frames. Default: the connection string of the storage, if it is of the same kind.",
  ),
  store_index: Type.Optional(
    Type.Object(
      {
        dims: Type.Integer({
          minimum: 1,
          maximum: 16_384,
          description: "Numbers per vector that the embedding function returns.",
        }),
        embed: Type.String({
          minLength: 1,
          description:
            "Embedding function (texts: string[]) => Promise<number[][]> or LangChain Embeddings object, such as ./embed.ts:embed; or provider:model, such as openai:text-embedding-3-small.",
        }),
        fields: Type.Optional(
          Type.Array(Type.String({ minLength: 1 }), {
            description:
              'Paths of the values to embed, such as text or chapters[*].title. Default: ["$"], the whole value.',
          }),
        ),
        max_scanned_items: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: 1_000_000,
            description:
              "Maximum number of items below a namespace that a search by query compares in the server, without pgvector or sqlite-vec. Default: 20000.",
          }),
        ),
      },
      {
        additionalProperties: false,
        description:
          "Semantic search in the store: embeds items, and ranks a search with a query (docs/storage.md#semantic-search).",
      },
    ),
  ),
};
