/** All limits of the server, for docs/safety.md. The values are read from the settings schema and from constants. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TSchema } from "@sinclair/typebox";
import { SettingsSchema, type SettingName } from "../../src/config/settings.js";
import { ROOT } from "./markdown.js";

type Unit = "bytes" | "text" | "characters" | "ms" | "seconds" | "minutes" | "";

export interface Bound {
  what: string;
  /** A setting, or a constant as file and name: `frames/run-log.ts MAX_FRAMES`. */
  from: SettingName | `${string}.ts ${string}`;
  /** The option that sets the limit, if it is not the whole setting `from`. */
  setting?: string;
  unit: Unit;
  /** What happens when the limit is exceeded. */
  beyond: string;
}

const bound = (what: string, from: Bound["from"], unit: Unit, beyond: string): Bound => ({
  what,
  from,
  unit,
  beyond,
});

const AWAY = "503 `storage_unavailable`";
const REFUSED = "422 `invalid_request`";

export const BOUNDS = {
  requests: [
    bound("Texts of one store item that are embedded", "storage/item-index.ts MAX_TEXTS", "", REFUSED),
    bound(
      "Call of the embedding function",
      "storage/item-index.ts EMBED_TIMEOUT_MS",
      "ms",
      "items are stored without vectors; a search by query gets 503 `embedding_failed`",
    ),
    bound(
      "Items that a search by query compares in the server, unless `store_index.max_scanned_items` is set",
      "storage/item-index.ts DEFAULT_SCANNED_ITEMS",
      "",
      REFUSED,
    ),
    bound("Request body, compressed or decompressed", "body_limit", "bytes", "413 `payload_too_large`"),
    bound("Nesting depth of a request body", "http/core/json-body.ts MAX_DEPTH", "", REFUSED),
    bound("Values in a request body, nested ones included", "http/core/json-body.ts MAX_VALUES", "", REFUSED),
    bound(
      "Pending messages of one WebSocket",
      "http/websocket/websocket.ts MOST_WAITING",
      "",
      "the socket is not read until some are processed",
    ),
    bound(
      "Wait for a clock that is behind the thread, while the client waits",
      "context/thread-heads.ts CLOCK_WAIT_MS",
      "ms",
      "503 `clock_behind`",
    ),
    bound(
      "Time to receive a complete request",
      "http/server.ts REQUEST_TIMEOUT_MS",
      "ms",
      "408, and the connection is closed",
    ),
    bound("`limit` of a list, and ids in a request", "models/common.ts MAX_LIMIT", "", REFUSED),
    bound(
      "Default `limit` of a list",
      "models/common.ts DEFAULT_LIMIT",
      "",
      "`X-Pagination-Next` of a search is the offset of the next page",
    ),
    bound(
      "Default `limit` of a list of namespaces",
      "threads/store-items.ts DEFAULT_NAMESPACES",
      "",
      "request more with `offset`",
    ),
    bound(
      "Values in a filter, nested ones included",
      "context/request-limits.ts MAX_FILTER_VALUES",
      "",
      REFUSED,
    ),
    bound("Keys and strings of a filter", "context/request-limits.ts MAX_FILTER_CHARACTERS", "text", REFUSED),
    bound("Keys of a thread's metadata", "context/request-limits.ts MAX_METADATA_KEYS", "", REFUSED),
    bound("Path in `extract`", "models/value-path.ts MAX_PATH_LENGTH", "characters", REFUSED),
    bound("Paths in `extract`", "models/thread.ts MOST_EXTRACTED", "", REFUSED),
    bound("Search text for threads", "models/thread.ts LONGEST_QUERY", "characters", REFUSED),
    bound(
      "String without spaces that full-text search covers, in values and metadata",
      "threads/thread-search.ts MAX_WORD_CHARACTERS",
      "characters",
      "it is treated as binary data, such as an image, and not searched",
    ),
    bound("`after_seconds`", "scheduling/delayed-runs.ts LONGEST_DELAY_MINUTES", "minutes", REFUSED),
    bound(
      "Delayed runs of a thread",
      "scheduling/delayed-runs.ts MOST_WAITING_OF_THREAD",
      "",
      "409 `thread_busy`",
    ),
    bound(
      "Delayed runs, crons, assistants of clients, and undelivered webhooks: of each",
      "context/timer-limits.ts MAX_TIMERS",
      "",
      "429 `too_many_runs`",
    ),
    bound("The same for one user", "context/timer-limits.ts MAX_TIMERS_PER_USER", "", "429 `too_many_runs`"),
    bound(
      "Versions of an assistant",
      "operations/managed-assistants.ts MAX_ASSISTANT_VERSIONS",
      "",
      "the oldest are removed",
    ),
    bound(
      "Crons of a user that can fire at the same time",
      "scheduling/crons.ts TOGETHER",
      "",
      "the others fire up to 20 s later, interleaved with those of other users",
    ),
    bound(
      "Runs in flight or waiting in a process without a queue; half of them for one user",
      "max_active_runs",
      "",
      "429 `too_many_runs`; crons and delayed runs wait",
    ),
    bound(
      "Server processes on one port",
      "config/process-settings.ts MAX_PROCESSES",
      "",
      "refused at startup",
    ),
    bound("Idempotency key", "runs/idempotency.ts LONGEST_KEY", "characters", REFUSED),
    bound(
      "Retention of an idempotency key",
      "runs/idempotency.ts KEEP_KEY_MINUTES",
      "minutes",
      "the key can be used for a new run",
    ),
    bound("URL of a webhook", "support/outbound.ts LONGEST_URL", "characters", REFUSED),
    bound("Runs in a batch", "models/run.ts MOST_RUNS_OF_BATCH", "", REFUSED),
    bound(
      "Threads that a run search reads, in a custom storage without `runs.search`",
      "storage/run-search.ts MAX_THREADS_WALKED",
      "",
      "runs of less recently updated threads are not found",
    ),
    bound(
      "Runs of a thread that one `POST /runs/cancel` considers, newest first",
      "coordination/cancel.ts MOST_RUNS",
      "",
      "older runs continue; repeat the request",
    ),
    bound("Channels of an event stream", "models/protocol.ts MOST_CHANNELS", "", REFUSED),
    bound("Namespaces of an event stream", "models/protocol.ts MOST_NAMESPACES", "", REFUSED),
    bound("Segments of a namespace", "models/protocol.ts MOST_SEGMENTS", "", REFUSED),
    bound(
      "Event streams of one thread",
      "delivery/thread-feeds.ts MOST_STREAMS_A_THREAD",
      "",
      "429 `too_many_streams`",
    ),
    bound(
      "Streams of `GET /changes` of one user, or of all clients without authentication",
      "delivery/changes.ts MOST_CHANGE_STREAMS",
      "",
      "429 `too_many_streams`",
    ),
    bound(
      "Threads, and runs, in one event of `GET /changes`",
      "delivery/changes.ts MOST_CHANGES",
      "",
      "`is_complete` is false: load the lists again",
    ),
    bound(
      "Interval at which `GET /changes` reads the storage, if a read takes long",
      "delivery/changes.ts MAX_POLL_MS",
      "ms",
      "changes are reported later",
    ),
    bound(
      "Subscriptions of one WebSocket",
      "http/websocket/websocket.ts MOST_SUBSCRIPTIONS",
      "",
      "an `error` response",
    ),
    bound(
      "Unanswered pings of a WebSocket",
      "http/websocket/websocket.ts MOST_PINGS",
      "",
      "the connection is closed",
    ),
    bound("Time to live of a thread or store item", "models/thread.ts MAX_TTL_MINUTES", "minutes", REFUSED),
  ],
  runs: [
    bound("Callers waiting for one thread", "max_queued_runs", "", "409 `thread_busy`"),
    bound(
      "Execution time of a run, without waiting",
      "run_timeout_seconds",
      "seconds",
      "the run ends with status `timeout`",
    ),
    bound(
      "Time for a graph to react to the abort signal",
      "runs/execute.ts ABORT_GRACE_MS",
      "ms",
      "the run ends anyway, and later writes of the graph are rejected",
    ),
    bound(
      "Attempts of a run with network errors before its first event",
      "runs/network-retry.ts MAX_ATTEMPTS",
      "",
      "the run ends with status `error`",
    ),
    bound(
      "Webhook payload",
      "webhooks/webhooks.ts LARGEST_PAYLOAD",
      "bytes",
      "`values` is null; if still too large, `kwargs` is empty",
    ),
    bound(
      "Response time of a webhook receiver",
      "webhooks/webhook-sender.ts ANSWER_MS",
      "ms",
      "the webhook is retried",
    ),
    bound(
      "Attempts to deliver a webhook",
      "webhooks/webhook-sender.ts MOST_SENDINGS",
      "",
      "the webhook fails",
    ),
    bound(
      "Delay between attempts to deliver a webhook",
      "webhooks/webhook-sender.ts LONGEST_PAUSE_MS",
      "ms",
      "the delay no longer increases",
    ),
    bound(
      "Poll interval for timers that other servers scheduled",
      "scheduling/timekeeper.ts LONGEST_SLEEP_MS",
      "ms",
      "the server polls again",
    ),
    bound("Process crashes during one run", "max_attempts", "", "the run ends with status `error`"),
    bound(
      "Nesting depth of a value that a graph returns",
      "support/unserializable.ts MAX_SERIALIZABLE_DEPTH",
      "",
      "the run ends with status `error`, and the error names the key",
    ),
    bound(
      "Message of an exception of a graph",
      "support/errors/thrown.ts LONGEST_MESSAGE",
      "characters",
      "the rest is truncated",
    ),
    bound(
      "Causes of an exception of a graph",
      "support/errors/thrown.ts MOST_CAUSES",
      "",
      "further causes are ignored",
    ),
    bound(
      "Exceptions of a run that are stored with their source position, including causes",
      "graphs/run-fault.ts MAX_ERRORS",
      "",
      "the others are omitted",
    ),
    bound(
      "Tasks of a graph, and of each subgraph, that are searched for the failed task",
      "graphs/failed-tasks.ts MAX_TASKS",
      "",
      "failed tasks come first, the others are ignored",
    ),
    bound(
      "Stored message of a cause",
      "graphs/run-fault.ts MAX_CAUSE_LENGTH",
      "characters",
      "the rest is truncated",
    ),
    bound(
      "Stored stack frames of your code",
      "graphs/run-fault.ts MAX_USER_FRAMES",
      "",
      "outer frames are omitted",
    ),
    bound(
      "Subgraphs of one run whose messages are counted at a time",
      "context/message-counter.ts MOST_NAMESPACES",
      "",
      "the first steps of others have no `changed_messages`",
    ),
    bound(
      "Message chunks that `hold_messages` holds for a run",
      "graphs/held-messages.ts MAX_PARTS",
      "",
      "the oldest are not streamed",
    ),
    bound("Wait for an exported promise", "graphs/awaited.ts LOAD_LIMIT_MS", "ms", "the graph fails to load"),
    bound(
      "Graceful shutdown: time for runs in flight",
      "shutdown_grace_seconds",
      "seconds",
      "they are stopped and requeued, or end with status `error`",
    ),
    bound(
      "Time without a heartbeat until a process counts as dead",
      "storage/rows/owners.ts SILENT_MS",
      "ms",
      "its runs resume in another process, or end with status `error`",
    ),
    bound(
      "Thread of a stateless run that could not be deleted immediately",
      "coordination/stateless-runs.ts LEFTOVER_TTL_MINUTES",
      "minutes",
      "the sweep deletes it",
    ),
  ],
  readers: [
    bound(
      "Frames of a run",
      "frames/run-log.ts MAX_FRAMES",
      "",
      "the oldest are dropped; a reader that needs them gets a summary or is disconnected",
    ),
    bound(
      "First nodes and calls of a run with stored times",
      "graphs/callbacks/task-times.ts MAX_FIRST_TASKS",
      "",
      "the last ones are kept too",
    ),
    bound(
      "Last nodes and calls of a run with stored times",
      "graphs/callbacks/task-times.ts MAX_LAST_TASKS",
      "",
      "those between the first and the last are counted in `omitted`",
    ),
    bound(
      "Size of the frames of a run",
      "frames/run-log.ts MAX_BYTES_PER_LOG",
      "bytes",
      "the oldest are dropped",
    ),
    bound(
      "Retention of frames after the end of a run",
      "frames/run-logs.ts KEEP_MS",
      "ms",
      "later readers get `metadata`, the final `values` and `end`",
    ),
    bound(
      "Frames in memory, of all runs and threads of a process",
      "max_kept_frame_bytes",
      "bytes",
      "frames of ended runs are dropped first, then the oldest of the slowest readers, which get a gap",
    ),
    bound(
      "Callers considered when a run is claimed from the queue",
      "storage/postgres/jobs.ts MAX_CALLERS",
      "",
      "those after the last claimed caller are considered",
    ),
    bound(
      "Recent callers of the queue that a process remembers",
      "coordination/shared-queue.ts MAX_RECENT_CALLERS",
      "",
      "the least recent are forgotten",
    ),
    bound(
      "Attempts of a run whose frames other processes can read",
      "storage/contract/frame-bus.ts MOST_ATTEMPTS",
      "",
      "frames of earlier attempts are dropped",
    ),
    bound(
      "Buffered frames of ended runs while other processes are unreachable",
      "frames/shared-frames.ts MAX_ENDED_CHARACTERS",
      "text",
      "frames of the oldest run are not shared",
    ),
    bound(
      "Request bodies being read, in total",
      "max_incoming_bytes",
      "bytes",
      "the largest are rejected: 503 `server_busy`",
    ),
    bound(
      "Unread response data of all clients",
      "max_unread_bytes",
      "bytes",
      "clients that have not read for the longest time are disconnected",
    ),
    bound(
      "Time without reads by a client",
      "unread_timeout_seconds",
      "seconds",
      "the client is disconnected",
    ),
    bound(
      "Time without events on an event stream",
      "http/core/event-stream.ts HEARTBEAT_MS",
      "ms",
      "a comment is sent",
    ),
    bound(
      "Read-ahead for lists of runs and items",
      "support/read-ahead.ts PAGE_CHARACTERS",
      "text",
      "smaller pages are read, with at least one element",
    ),
    bound(
      "Elements in the first page of the read-ahead",
      "support/read-ahead.ts FIRST_PAGE",
      "",
      "later pages adapt to the element size",
    ),
    bound(
      "Elements in a page of the read-ahead",
      "support/read-ahead.ts LARGEST_PAGE",
      "",
      "the rest is read with the next page",
    ),
    bound(
      "States read ahead for a list of threads",
      "support/read-ahead.ts READS",
      "",
      "the next is read when one is consumed",
    ),
    bound(
      "Checkpoints in a page of a history",
      "storage/postgres/saver.ts PAGE",
      "",
      "the next page is read when they are consumed",
    ),
    bound(
      "Buffered text of a list before the response starts",
      "http/core/respond.ts SMALL",
      "bytes",
      "it is sent in chunks, and a later error closes the connection",
    ),
  ],
  mcp: [
    bound(
      "Sessions of a process",
      "http/agents/mcp-sessions.ts MOST_SESSIONS",
      "",
      "the least recently used session ends; 503 if all are in use",
    ),
    bound(
      "The same for one user",
      "http/agents/mcp-sessions.ts MOST_SESSIONS_OF_USER",
      "",
      "the oldest session of the user ends",
    ),
    bound(
      "Identity returned by the auth function",
      "service/auth-hook.ts LONGEST_IDENTITY",
      "characters",
      "500",
    ),
    bound("Duration of the auth function", "auth_timeout_seconds", "seconds", "503 `auth_timeout`"),
    bound(
      "Idle session, without open requests and streams",
      "http/agents/mcp-sessions.ts SESSION_TTL_MS",
      "ms",
      "it ends: 404, and the client opens a new session",
    ),
    bound(
      "Time for a person to answer a question",
      "mcp/server.ts ANSWER_MS",
      "ms",
      "the call returns the thread to resume",
    ),
    bound(
      "Retention of a thread created by a call, after its last run",
      "models/thread.ts CONVERSATION_TTL_MINUTES",
      "minutes",
      "the thread is deleted",
    ),
    bound("Progress message", "view/progress.ts LONGEST_PROGRESS", "characters", "the rest is truncated"),
    bound(
      "Interval between progress messages with model output",
      "view/progress.ts PAUSE_MS",
      "ms",
      "the next message contains the output in between",
    ),
    bound("Tool name", "mcp/tools.ts LONGEST_TOOL_NAME", "characters", "the rest is truncated"),
    bound(
      "Threads in a page of resources",
      "mcp/resources.ts PAGE",
      "",
      "`nextCursor` is the start of the next page",
    ),
  ],
  a2a: [
    bound(
      "Runs of a thread that are searched for the last run of a task",
      "a2a/tasks.ts MOST_RUNS_OF_THREAD",
      "",
      "the task is not found",
    ),
    bound(
      "Retention of a thread created by a message, after its last run",
      "models/thread.ts CONVERSATION_TTL_MINUTES",
      "minutes",
      "the thread is deleted",
    ),
  ],
  storage: [
    {
      ...bound(
        "Connections of a pool (PostgreSQL)",
        "storage/postgres/options.ts POOL_SIZE",
        "",
        "calls wait",
      ),
      setting: "checkpointer_options.pool_max_size",
    },
    {
      ...bound("Statement (PostgreSQL)", "storage/postgres/options.ts STATEMENT_TIMEOUT", "ms", AWAY),
      setting: "checkpointer_options.statement_timeout_ms",
    },
    bound("Connecting (PostgreSQL)", "storage/postgres/options.ts CONNECT_TIMEOUT", "ms", AWAY),
    bound("Call, or wait for a pooled connection (MongoDB)", "storage/mongodb/open.ts TIMEOUT", "ms", AWAY),
    bound("Call (Redis)", "storage/redis/client.ts TIMEOUT", "ms", AWAY),
    bound("Wait for a lock of another process (SQLite)", "storage/sqlite/errors.ts BUSY_TIMEOUT", "ms", AWAY),
    bound("Storage check of `/ready`", "operations/readiness.ts DEADLINE_MS", "ms", "503"),
  ],
} satisfies Record<string, Bound[]>;

/** Constants that are named like limits but have no effect that a client or a graph could observe. */
const INWARD = [
  "coordination/delete-thread.ts MOST_RUNS",
  "coordination/start-run.ts MOST_THREADS",
  "service/find-graphs.ts MOST_FILES",
  "graphs/held-messages.ts MAX_DEPTH",
  "graphs/run-fault.ts MAX_STACK_LENGTH",
  "graphs/run-fault.ts MAX_ROW_LENGTH",
  "graphs/run-fault.ts MAX_LIBRARY_FRAMES",
  "graphs/source-positions.ts MAX_BYTES",
  "threads/step-run.ts MAX_RUNS",
  "storage/saver/scan.ts MAX_LEVELS",
  "storage/redis/client.ts MAX_PAUSE",
  "storage/mongodb/locks.ts MAX_POLL_MS",
  "storage/postgres/lock-session.ts MAX_BACKOFF_MS",
  "storage/postgres/frames.ts MAX_HINT_LENGTH",
  "storage/postgres/frames.ts MAX_BACKOFF_MS",
  "storage/postgres/threads.ts MAX_LIST_LENGTH",
  "storage/rows/rows.ts MAX_LABEL_LENGTH",
  "storage/sqlite/threads.ts MAX_FACTS",
  "storage/sqlite/values.ts MAX_CHAIN",
  "frames/shared-frames.ts MAX_PARTS",
  "frames/shared-frames.ts MAX_CHARACTERS",
  "frames/run-log.ts MAX_SPLIT_HEAD",
  "scheduling/timekeeper.ts LONGEST_PAUSE_MS",
  "storage/postgres/frames.ts MAX_PARTS",
  "storage/postgres/frames.ts MAX_READS",
  "storage/postgres/locks.ts MAX_POLL_MS",
  "service/thread-copy.ts MOST_ITEMS",
  "graphs/fingerprint.ts MOST_STRUCTURES",
  "graphs/versions/stored-state.ts MOST_ERRORS",
  "storage/postgres/writer.ts MAX_CONCURRENT",
  "storage/postgres/writer.ts MAX_BATCH_BYTES",
  "storage/sqlite/values.ts MAX_CACHED_BYTES",
  "support/errors/thrown.ts LONGEST_NAME",
  "support/secrets.ts LONGEST_NAME",
  "support/unserializable.ts MOST_VALUES",
  "support/unserializable.ts LONGEST_PATH",
  "testing/recording/recorder.ts MAX_WAITING_CALLS",
];

const PLACE = /^(\S+\.ts) (\w+)$/;
const CONSTANT = /^(?:export )?const (\w+) = ([\d_]+(?: \* [\d_]+)*);$/gm;

/** The numeric constants of a source file, by name. */
function constantsOf(file: string): Map<string, number> {
  const text = readFileSync(join(ROOT, "src", file), "utf8");
  const product = (factors: string) =>
    factors.split(" * ").reduce((value, factor) => value * Number(factor.replaceAll("_", "")), 1);
  return new Map(
    Array.from(text.matchAll(CONSTANT), ([, name = "", factors = ""]) => [name, product(factors)]),
  );
}

/** The value with its unit; `none` for a setting without a default. */
export function valueOf({ from, unit }: Bound): string {
  const [, file, name = ""] = PLACE.exec(from) ?? [];
  const value = file
    ? constantsOf(file).get(name)
    : ((SettingsSchema.properties[from as SettingName] as TSchema).default as number | undefined);
  if (value !== undefined) return inUnit(value, unit);
  if (file) throw new Error(`src/${file} has no numeric constant ${name}`);
  return "none";
}

function inUnit(value: number, unit: Unit): string {
  if (unit === "ms") return value < 120_000 ? `${value / 1000} s` : `${value / 60_000} min`;
  if (unit === "seconds") return `${value} s`;
  if (unit === "minutes") return value < 1440 ? `${value} min` : `${value / 1440} days`;
  const MB = 1024 * 1024;
  const size = value < MB ? `${value / 1024} KB` : `${value / MB} MB`;
  if (unit === "bytes") return size;
  if (unit === "text") return `about ${size}`;
  const text = value.toLocaleString("en-US");
  return unit === "characters" ? `${text} characters` : text;
}

/** The setting of a limit; empty for a fixed one. */
export const settingOf = ({ from, setting = PLACE.test(from) ? "" : from }: Bound): string => setting;

/** Constants of these files that are named like limits but not listed above. */
export function untold(files: readonly string[]): string[] {
  const told = new Set<string>([
    ...Object.values(BOUNDS)
      .flat()
      .map(({ from }) => from),
    ...INWARD,
  ]);
  return files
    .flatMap((file) => [...constantsOf(file).keys()].map((name) => `${file} ${name}`))
    .filter((place) => / (MAX|MOST|LONGEST|LARGEST)_/.test(place) && !told.has(place));
}
