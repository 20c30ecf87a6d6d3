/** Every bound of the server, for docs/safety.md: its value is read from the settings or the constant that holds it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TSchema } from "@sinclair/typebox";
import { SettingsSchema, type SettingName } from "../../src/config/settings.js";
import { ROOT } from "./markdown.js";

type Unit = "bytes" | "text" | "characters" | "ms" | "seconds" | "minutes" | "";

export interface Bound {
  what: string;
  /** A setting, or where its constant stands: `ops/run-log.ts MAX_FRAMES`. */
  from: SettingName | `${string}.ts ${string}`;
  /** What sets it, where that is an option of a setting. */
  setting?: string;
  unit: Unit;
  /** What happens beyond it. */
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
    bound("A body, also once it is unpacked", "body_limit", "bytes", "413 `payload_too_large`"),
    bound("Levels of a body", "http/json-body.ts MAX_DEPTH", "", REFUSED),
    bound(
      "Values in a body: objects, lists, and what they hold",
      "http/json-body.ts MAX_VALUES",
      "",
      REFUSED,
    ),
    bound(
      "Messages of one WebSocket that wait",
      "http/websocket.ts MOST_WAITING",
      "",
      "the socket is not read until fewer wait",
    ),
    bound(
      "Wait for a clock that is behind the thread, with a waiting client",
      "ops/thread-heads.ts CLOCK_WAIT_MS",
      "ms",
      "503 `clock_behind`",
    ),
    bound(
      "Time in which a request has to arrive",
      "http/server.ts REQUEST_TIMEOUT_MS",
      "ms",
      "408, the connection is closed",
    ),
    bound("`limit` of a list, and the ids that a request names", "models/common.ts MAX_LIMIT", "", REFUSED),
    bound(
      "`limit` of a list that does not say",
      "models/common.ts DEFAULT_LIMIT",
      "",
      "`X-Pagination-Next` of a search says where the rest begins",
    ),
    bound(
      "Namespaces of a list that does not say",
      "ops/store-items.ts DEFAULT_NAMESPACES",
      "",
      "ask with `offset`",
    ),
    bound("Values in a filter, inner ones counted", "ops/request-limits.ts MAX_FILTER_VALUES", "", REFUSED),
    bound("Keys and texts of a filter", "ops/request-limits.ts MAX_FILTER_CHARACTERS", "text", REFUSED),
    bound("Keys of a thread's metadata", "ops/request-limits.ts MAX_METADATA_KEYS", "", REFUSED),
    bound("A path of `extract`", "models/value-path.ts MAX_PATH_LENGTH", "characters", REFUSED),
    bound("Values to `extract`", "models/thread.ts MOST_EXTRACTED", "", REFUSED),
    bound("A text that threads are searched for", "models/thread.ts LONGEST_QUERY", "characters", REFUSED),
    bound(
      "A text without a space that is searched, in values and metadata",
      "ops/thread-text.ts LONGEST_WORD",
      "characters",
      "taken for data, such as a picture, and not searched",
    ),
    bound(
      "How far ahead `after_seconds` may be",
      "ops/delayed-runs.ts LONGEST_DELAY_MINUTES",
      "minutes",
      REFUSED,
    ),
    bound(
      "Runs that wait for their time on a thread",
      "ops/delayed-runs.ts MOST_WAITING_OF_THREAD",
      "",
      "409 `thread_busy`",
    ),
    bound(
      "Runs that wait for their time, crons, and webhooks that have not arrived: of each",
      "ops/timer-room.ts MAX_TIMERS",
      "",
      "429 `too_many_runs`",
    ),
    bound("The same of one user", "ops/timer-room.ts MAX_TIMERS_PER_USER", "", "429 `too_many_runs`"),
    bound(
      "Crons of a user that may begin at the same moment",
      "ops/crons.ts TOGETHER",
      "",
      "the others begin up to 20 s later, in turn with those of other users",
    ),
    bound(
      "Runs that a process without a queue has in flight or waiting; half of them of one user",
      "max_active_runs",
      "",
      "429 `too_many_runs`; crons and delayed runs wait",
    ),
    bound("An idempotency key", "ops/idempotency.ts LONGEST_KEY", "characters", REFUSED),
    bound("An idempotency key, by time", "ops/idempotency.ts KEEP_KEY_MINUTES", "minutes", "it is forgotten"),
    bound("The URL of a webhook", "support/outbound.ts LONGEST_URL", "characters", REFUSED),
    bound("Runs of a batch", "models/run.ts MOST_RUNS_OF_BATCH", "", REFUSED),
    bound(
      "Threads that a search for runs goes through, in a storage of your own without `runs.search`",
      "storage/run-search.ts MOST_THREADS_WALKED",
      "",
      "runs of threads that changed earlier are not found",
    ),
    bound(
      "Runs of a thread that `POST /runs/cancel` looks at, newest first",
      "ops/cancel.ts MOST_RUNS",
      "",
      "older ones go on: call again",
    ),
    bound("Channels that a stream of events asks for", "models/protocol.ts MOST_CHANNELS", "", REFUSED),
    bound("Namespaces that it asks for", "models/protocol.ts MOST_NAMESPACES", "", REFUSED),
    bound("Segments of a namespace", "models/protocol.ts MOST_SEGMENTS", "", REFUSED),
    bound(
      "Streams of events of one thread",
      "ops/thread-feeds.ts MOST_STREAMS_A_THREAD",
      "",
      "429 `too_many_streams`",
    ),
    bound("Subscriptions of one WebSocket", "http/websocket.ts MOST_SUBSCRIPTIONS", "", "an `error` answer"),
    bound("Pings that a WebSocket leaves unanswered", "http/websocket.ts MOST_PINGS", "", "it is closed"),
    bound("Time to live of a thread or an item", "models/thread.ts MAX_TTL_MINUTES", "minutes", REFUSED),
  ],
  runs: [
    bound("Callers that wait for one thread", "max_queued_runs", "", "409 `thread_busy`"),
    bound(
      "Execution of a run, waiting not counted",
      "run_timeout_seconds",
      "seconds",
      "the run ends as `timeout`",
    ),
    bound(
      "Time in which a graph has to heed that its run was stopped",
      "ops/execute.ts ABORT_GRACE_MS",
      "ms",
      "the run ends without it, its later writes are refused",
    ),
    bound(
      "Attempts of a run that fails in the network before its first event",
      "ops/network-retry.ts MAX_ATTEMPTS",
      "",
      "the run ends as `error`",
    ),
    bound(
      "What a webhook sends of a run",
      "ops/webhooks.ts LARGEST_PAYLOAD",
      "bytes",
      "`values` is null, then `kwargs` empty",
    ),
    bound("The answer of a webhook's receiver", "ops/webhook-sender.ts ANSWER_MS", "ms", "it is sent again"),
    bound("Sendings of a webhook", "ops/webhook-sender.ts MOST_SENDINGS", "", "it is given up"),
    bound(
      "Pause before a webhook is sent again",
      "ops/webhook-sender.ts LONGEST_PAUSE_MS",
      "ms",
      "it is no longer",
    ),
    bound(
      "Until a server sees what others have scheduled",
      "ops/timekeeper.ts LONGEST_SLEEP_MS",
      "ms",
      "it looks again",
    ),
    bound("Processes that may die over a run", "max_attempts", "", "the run ends as `error`"),
    bound(
      "Levels of a value that a graph yields",
      "support/unserializable.ts MAX_SERIALIZABLE_DEPTH",
      "",
      "the run ends as `error` and names the key",
    ),
    bound(
      "Message of what a graph throws",
      "support/errors.ts LONGEST_MESSAGE",
      "characters",
      "the rest is cut off",
    ),
    bound(
      "Causes of what a graph throws",
      "support/errors.ts MOST_CAUSES",
      "",
      "the others are not looked at",
    ),
    bound(
      "What a run threw, causes and parts counted, that is kept with its place",
      "graphs/run-fault.ts MOST_THROWN",
      "",
      "the others are left out",
    ),
    bound(
      "Tasks of a graph, and of each subgraph, among which the one that threw is looked for",
      "graphs/failed-tasks.ts MOST_TASKS",
      "",
      "those that threw come first, the others are not looked at",
    ),
    bound(
      "Message of a cause that is kept with its place",
      "graphs/run-fault.ts LONGEST_CAUSE",
      "characters",
      "the rest is cut off",
    ),
    bound(
      "Frames of your own code in a stack that is kept",
      "graphs/run-fault.ts MOST_OWN",
      "",
      "the outer ones are left out",
    ),
    bound(
      "Parts of messages that `hold_messages` holds at once, of a run",
      "graphs/held-messages.ts MAX_PARTS",
      "",
      "the oldest are never streamed",
    ),
    bound(
      "Wait for an export that is a promise",
      "graphs/awaited.ts LOAD_LIMIT_MS",
      "ms",
      "the graph does not load",
    ),
    bound(
      "Runs in flight when the server stops",
      "shutdown_grace_seconds",
      "seconds",
      "they are stopped, and given back or ended as `error`",
    ),
    bound(
      "Silence of a process, until its runs count as cut off",
      "ops/recovery.ts SILENT_MS",
      "ms",
      "they go on in another process; those that cannot, end as `error`",
    ),
    bound(
      "Thread of a stateless run that could not be removed at once",
      "ops/stateless-runs.ts LEFTOVER_TTL_MINUTES",
      "minutes",
      "the sweep removes it",
    ),
  ],
  readers: [
    bound(
      "Frames of a run",
      "ops/run-log.ts MAX_FRAMES",
      "",
      "the oldest go; who needs them gets a summary, or a connection that breaks",
    ),
    bound(
      "Nodes and calls of a run whose times are kept with it",
      "graphs/usage.ts MOST_TASKS",
      "",
      "the later ones are counted in `omitted`",
    ),
    bound("Frames of a run, by size", "ops/run-log.ts MAX_BYTES_A_LOG", "bytes", "the oldest go"),
    bound(
      "Frames of an ended run, by time",
      "ops/run-log.ts KEEP_MS",
      "ms",
      "later readers get `metadata`, the final `values` and `end`",
    ),
    bound(
      "Frames that the process keeps, of all runs and threads together",
      "max_kept_frame_bytes",
      "bytes",
      "those of ended runs go first, then the oldest of the slowest readers: these get a gap",
    ),
    bound(
      "Callers of the queue who are looked at for one run",
      "storage/postgres/queue.ts MOST_CALLERS",
      "",
      "those who follow the one served last",
    ),
    bound(
      "Callers of the queue whose turns a process remembers",
      "ops/shared-queue.ts MAX_RECENT_CALLERS",
      "",
      "those served longest ago are forgotten",
    ),
    bound(
      "Attempts of a run whose frames other processes can read",
      "storage/frame-bus.ts MOST_ATTEMPTS",
      "",
      "those of earlier ones go",
    ),
    bound(
      "Frames of ended runs that wait while other processes cannot be reached",
      "ops/shared-frames.ts MAX_CHARACTERS_OF_ENDED",
      "text",
      "those of the oldest run are not shared",
    ),
    bound(
      "Request bodies that are being read, of all together",
      "max_incoming_bytes",
      "bytes",
      "the largest are refused: 503 `server_busy`",
    ),
    bound(
      "What clients have yet to read, of all together",
      "max_unread_bytes",
      "bytes",
      "those that read nothing for longest are cut off",
    ),
    bound(
      "Time in which a client reads nothing of its answer",
      "unread_timeout_seconds",
      "seconds",
      "it is cut off",
    ),
    bound("Silence of an event stream", "http/response-writer.ts HEARTBEAT_MS", "ms", "a comment is sent"),
    bound(
      "Runs and items of a list that are read ahead of the client, by size",
      "support/read-ahead.ts PAGE_CHARACTERS",
      "text",
      "smaller pages are read, of one at least",
    ),
    bound(
      "The same, while their size is not known",
      "support/read-ahead.ts FIRST_PAGE",
      "",
      "the next page is fitted to it",
    ),
    bound(
      "The same, however small they are",
      "support/read-ahead.ts LARGEST_PAGE",
      "",
      "the next page follows",
    ),
    bound(
      "States that a list of threads reads ahead",
      "support/read-ahead.ts READS",
      "",
      "the next one is read when one was taken",
    ),
    bound(
      "Checkpoints that a history reads at once",
      "storage/postgres/saver.ts PAGE",
      "",
      "the next page is read when they were taken",
    ),
    bound(
      "Text of a list before some of it is sent",
      "http/respond.ts SMALL",
      "bytes",
      "it is sent in parts, and a fault from then on breaks the connection",
    ),
  ],
  mcp: [
    bound(
      "Sessions of a process",
      "http/mcp-sessions.ts MOST_SESSIONS",
      "",
      "that which was not used for longest is ended; 503 while all are in use",
    ),
    bound(
      "The same of one user",
      "http/mcp-sessions.ts MOST_SESSIONS_OF_USER",
      "",
      "the user's own oldest ends",
    ),
    bound("An identity that the auth function gives", "auth-hook.ts LONGEST_IDENTITY", "characters", "500"),
    bound("Time of the auth function for a request", "auth_timeout_seconds", "seconds", "503 `auth_timeout`"),
    bound(
      "A session in which no request and no stream is open",
      "http/mcp-sessions.ts SESSION_TTL_MS",
      "ms",
      "it ends: 404, and its client opens another",
    ),
    bound(
      "Time in which a person has to answer a question",
      "mcp/server.ts ANSWER_MS",
      "ms",
      "the call answers with the thread to resume",
    ),
    bound(
      "Thread that a call has made, after its last run",
      "models/thread.ts CONVERSATION_TTL_MINUTES",
      "minutes",
      "it is deleted",
    ),
    bound("A message of progress", "view/progress.ts LONGEST_PROGRESS", "characters", "the rest is cut off"),
    bound(
      "Time between two messages of what a model says",
      "view/progress.ts PAUSE_MS",
      "ms",
      "the next one has what came between",
    ),
    bound("Name of a tool", "mcp/tools.ts LONGEST_TOOL_NAME", "characters", "the rest is cut off"),
    bound(
      "Threads of a list of resources",
      "mcp/resources.ts PAGE",
      "",
      "`nextCursor` says where the rest begins",
    ),
  ],
  a2a: [
    bound(
      "Runs of a thread among which the last one of a task is looked for",
      "a2a/tasks.ts MOST_RUNS_OF_THREAD",
      "",
      "the task is not found",
    ),
    bound(
      "Thread that a message has made, after its last run",
      "models/thread.ts CONVERSATION_TTL_MINUTES",
      "minutes",
      "it is deleted",
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
      ...bound("A statement (PostgreSQL)", "storage/postgres/options.ts STATEMENT_TIMEOUT", "ms", AWAY),
      setting: "checkpointer_options.statement_timeout_ms",
    },
    bound("Connecting (PostgreSQL)", "storage/postgres/options.ts CONNECT_TIMEOUT", "ms", AWAY),
    bound("A call, or a place in the pool (MongoDB)", "storage/mongodb/open.ts TIMEOUT", "ms", AWAY),
    bound("A call (Redis)", "storage/redis/client.ts TIMEOUT", "ms", AWAY),
    bound(
      "Another process that holds the file (SQLite)",
      "storage/sqlite/errors.ts BUSY_TIMEOUT",
      "ms",
      AWAY,
    ),
    bound("The look of `/ready` into the stores", "ops/readiness.ts DEADLINE_MS", "ms", "503"),
  ],
} satisfies Record<string, Bound[]>;

/** Constants whose names are those of bounds, and that bound nothing which a client or a graph could feel. */
const INWARD = [
  "graphs/held-messages.ts MAX_DEPTH",
  "graphs/run-fault.ts LONGEST_STACK",
  "graphs/run-fault.ts LONGEST_ROW",
  "graphs/run-fault.ts MOST_LIBRARY",
  "graphs/source-positions.ts LARGEST_BYTES",
  "ops/states.ts MOST_RUNS",
  "storage/saver-parts.ts MOST_LEVELS",
  "storage/redis/client.ts LONGEST_PAUSE",
  "storage/mongodb/locks.ts LONGEST_PAUSE",
  "storage/postgres/lock-session.ts LONGEST_PAUSE",
  "storage/postgres/frames.ts LONGEST_HINT",
  "storage/postgres/frames.ts LONGEST_PAUSE",
  "storage/postgres/threads.ts LONGEST_LIST",
  "storage/rows.ts LONGEST_FACT",
  "storage/sqlite/threads.ts MOST_FACTS",
  "storage/sqlite/values.ts LONGEST_CHAIN",
  "support/errors.ts LONGEST_NAME",
  "support/secrets.ts LONGEST_NAME",
  "support/unserializable.ts MOST_VALUES",
  "support/unserializable.ts LONGEST_PATH",
];

const PLACE = /^(\S+\.ts) (\w+)$/;
const CONSTANT = /^(?:export )?const (\w+) = ([\d_]+(?: \* [\d_]+)*);$/gm;

/** Numbers of a source file by the names of their constants. */
function constantsOf(file: string): Map<string, number> {
  const text = readFileSync(join(ROOT, "src", file), "utf8");
  const product = (factors: string) =>
    factors.split(" * ").reduce((value, factor) => value * Number(factor.replaceAll("_", "")), 1);
  return new Map(
    Array.from(text.matchAll(CONSTANT), ([, name = "", factors = ""]) => [name, product(factors)]),
  );
}

/** The value of a bound as one reads it; a setting without a default has none. */
export function valueOf({ from, unit }: Bound): string {
  const [, file, name = ""] = PLACE.exec(from) ?? [];
  const value = file
    ? constantsOf(file).get(name)
    : ((SettingsSchema.properties[from as SettingName] as TSchema).default as number | undefined);
  if (value !== undefined) return inUnit(value, unit);
  if (file) throw new Error(`src/${file} has no number ${name}`);
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

/** Where a bound is set; empty for those that are fixed. */
export const settingOf = ({ from, setting = PLACE.test(from) ? "" : from }: Bound): string => setting;

/** Constants of these source files that are named as bounds are, and are not told above. */
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
