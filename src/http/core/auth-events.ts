/** What each route does, as handlers of LangGraph's `Auth` see it: events, and the values that they may change. */
import type { Authorize, AuthEvent, Caller } from "../../models/caller.js";
import { isRecord, type JsonObject } from "../../models/common.js";
import { GraphServeError, InvalidRequestError } from "../../support/errors.js";
import { validatePayload } from "./validation.js";

/** What a request asks for. */
interface Asked {
  params: Readonly<Record<string, string>>;
  query: unknown;
  body: unknown;
}

/** An event, and what becomes of the changes that a handler made to its value. */
interface RouteEvent extends AuthEvent {
  accept?: (value: JsonObject) => void;
}

type EventsOf = (fields: JsonObject, asked: Asked) => readonly RouteEvent[];

const threadId = ({ params }: Asked): string | undefined => (params as { thread_id?: string }).thread_id;

/** The fields with these names; also those that the request does not have, which handlers look for with `in`. */
const pick = (fields: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.map((name) => [name, fields[name]]));

/** Writes changed values back to the fields of the request. */
const writes =
  (fields: JsonObject, names: Readonly<Record<string, string>>) =>
  (value: JsonObject): void => {
    for (const [name, field] of Object.entries(names))
      if (value[name] !== undefined) fields[field] = value[name];
  };

const same = (...names: string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, name]));

const onThread =
  (event: string): EventsOf =>
  (_fields, asked) => [{ event, value: { thread_id: threadId(asked) } }];

const search: EventsOf = (fields) => {
  const names = ["ids", "status", "metadata", "values", "limit", "offset"];
  const value = { thread_id: undefined, ...pick(fields, names) };
  return [{ event: "threads:search", value, accept: writes(fields, same("metadata")) }];
};

const KWARGS = [
  "input",
  "command",
  "config",
  "context",
  "stream_mode",
  "interrupt_before",
  "interrupt_after",
];

/** The event of a run that a request starts. */
const createRun: EventsOf = (fields, asked) => {
  const options = ["assistant_id", "metadata", "multitask_strategy", "if_not_exists", "after_seconds"];
  const value = {
    ...{ thread_id: threadId(asked), run_id: undefined, status: "pending", prevent_insert_if_inflight: true },
    ...pick(fields, options),
    kwargs: pick(fields, KWARGS),
  };
  const accept = ({ metadata, kwargs }: JsonObject) => {
    writes(fields, same("metadata"))({ metadata });
    if (isRecord(kwargs)) writes(fields, same(...KWARGS))(kwargs);
  };
  return [{ event: "threads:create_run", value, accept }];
};

const createRuns: EventsOf = (_fields, asked) =>
  (asked.body as JsonObject[]).flatMap((fields) => createRun(fields, asked));

/** A cron also starts runs, now or later, as the same user. */
const cron =
  (event: string): EventsOf =>
  (fields, asked) => {
    const { cron_id } = asked.params as { cron_id?: string };
    const value = {
      ...{ cron_id, thread_id: threadId(asked), user_id: undefined, payload: fields },
      ...pick(fields, ["schedule", "end_time"]),
    };
    return [
      { event, value, accept: writes(fields, same("schedule", "end_time")) },
      ...createRun(fields, asked),
    ];
  };

const cronSearch: EventsOf = (fields) => [
  { event: "crons:search", value: pick(fields, ["assistant_id", "thread_id", "limit", "offset"]) },
];

const assistants =
  (event: string): EventsOf =>
  (fields, { params }) => {
    const { assistant_id } = params as { assistant_id?: string };
    const value = pick(fields, ["graph_id", "metadata", "limit", "offset"]);
    return [{ event, value: assistant_id === undefined ? value : { assistant_id, metadata: undefined } }];
  };

/** Of an assistant that a client creates or changes. */
const assistantWrite =
  (event: string): EventsOf =>
  (fields, { params }) => {
    const names = [
      "graph_id",
      "config",
      "context",
      "metadata",
      "if_exists",
      "name",
      "description",
      "version",
    ];
    const value = { ...pick(fields, ["assistant_id", ...names]), ...params };
    return [{ event, value, accept: writes(fields, same("config", "context", "metadata")) }];
  };

const ITEM = same("namespace", "key", "value");

/** In a query, a namespace is its labels joined by dots. */
const readItem: EventsOf = (_fields, { query }) => {
  const fields = query as JsonObject;
  const { namespace: labels = "", key } = fields as { namespace?: string; key: string };
  const value = { namespace: labels === "" ? [] : labels.split("."), key };
  const accept = ({ namespace, key }: JsonObject) => {
    if (Array.isArray(namespace)) fields.namespace = namespace.join(".");
    fields.key = key;
  };
  return [{ event: "store:get", value, accept }];
};

const items =
  (event: string, names: Readonly<Record<string, string>>): EventsOf =>
  (fields) => {
    const value = Object.fromEntries(Object.entries(names).map(([name, field]) => [name, fields[field]]));
    return [{ event, value, accept: writes(fields, names) }];
  };

const none: EventsOf = () => [];
const read = onThread("threads:read");

/** Reading and starting anything: of requests whose content decides what they do. */
const ANYTHING = ["read", "search", "create", "update", "create_run"];

/** By operation id. A route without an entry fails a test. */
export const ROUTE_EVENTS: Readonly<Record<string, EventsOf | undefined>> = {
  ...{ get_health: none, get_ok: none, get_ready: none, get_info: none, get_initial_message: none },
  get_metrics: none,
  search_assistants: assistants("assistants:search"),
  count_assistants: assistants("assistants:search"),
  get_assistant: assistants("assistants:read"),
  get_assistant_schemas: assistants("assistants:read"),
  get_assistant_graph: assistants("assistants:read"),
  get_assistant_subgraphs: assistants("assistants:read"),
  get_assistant_subgraph: assistants("assistants:read"),
  create_assistant: assistantWrite("assistants:create"),
  update_assistant: assistantWrite("assistants:update"),
  set_latest_assistant: assistantWrite("assistants:update"),
  delete_assistant: assistants("assistants:delete"),
  list_assistant_versions: assistants("assistants:search"),
  create_thread: (fields) => {
    const value = pick(fields, ["thread_id", "metadata", "if_exists"]);
    return [{ event: "threads:create", value, accept: writes(fields, same("metadata")) }];
  },
  search_threads: search,
  count_threads: search,
  prune_threads: (fields) =>
    (fields.thread_ids as string[]).map((thread_id) => ({ event: "threads:delete", value: { thread_id } })),
  ...{ get_thread: read, get_thread_version: read },
  update_thread: (fields, asked) => {
    const value = { thread_id: threadId(asked), metadata: fields.metadata };
    return [{ event: "threads:update", value, accept: writes(fields, same("metadata")) }];
  },
  delete_thread: onThread("threads:delete"),
  copy_thread: (fields, asked) => [
    ...read(fields, asked),
    { event: "threads:create", value: { thread_id: undefined, metadata: {} } },
  ],
  stream_changes: search,
  ...{ get_state: read, get_state_at_selector: read, get_state_at_checkpoint: read },
  ...{ get_history: read, search_history: read },
  update_state: onThread("threads:update"),
  ...{ create_run: createRun, stream_run: createRun, wait_for_new_run: createRun },
  search_runs: search,
  ...{ list_runs: read, get_run: read, get_run_tasks: read, join_run: read, join_run_stream: read },
  list_dead_runs: search,
  redrive_run: createRun,
  cancel_run: (_fields, asked) => {
    const { action } = asked.query as { action?: string };
    return [{ event: "threads:update", value: { thread_id: threadId(asked), action } }];
  },
  cancel_runs: (fields, { query }) => {
    const { action } = query as { action?: string };
    return [{ event: "threads:update", value: { thread_id: fields.thread_id, action } }];
  },
  delete_run: (_fields, { params }) => [{ event: "threads:delete", value: { ...params } }],
  // Its commands ask again: see `executeCommand`.
  ...{ send_command: read, stream_thread_events: read, open_thread_socket: read },
  join_thread_stream: read,
  ...{ create_cron: cron("crons:create"), create_thread_cron: cron("crons:create") },
  ...{ search_crons: cronSearch, count_crons: cronSearch },
  update_cron: cron("crons:update"),
  delete_cron: (_fields, { params }) => [{ event: "crons:delete", value: { ...params } }],
  list_webhooks: search,
  send_webhook: onThread("threads:update"),
  delete_webhook: onThread("threads:update"),
  ...{ list_usage: search, sum_usage_by_node: search },
  ...{ create_stateless_run: createRun, wait_for_stateless_run: createRun, stream_stateless_run: createRun },
  join_stateless_run_stream: read,
  create_stateless_runs: createRuns,
  put_item: items("store:put", ITEM),
  get_item: readItem,
  delete_item: items("store:delete", ITEM),
  search_items: items("store:search", {
    namespace: "namespace_prefix",
    ...same("filter", "limit", "offset", "query"),
  }),
  list_namespaces: items("store:list_namespaces", {
    namespace: "prefix",
    ...same("suffix", "max_depth", "limit", "offset"),
  }),
};

/**
 * Asks the handlers about a request, and applies their changes to it.
 * @returns the caller with the scope for this request
 */
export async function authorizeRoute(
  authorize: Authorize,
  caller: Caller,
  route: { id: string; body?: BodySchema },
  asked: Asked,
): Promise<Caller> {
  const events = ROUTE_EVENTS[route.id]?.(isRecord(asked.body) ? asked.body : {}, asked);
  if (!events) throw new GraphServeError("internal_error", `${route.id} has no event for auth handlers`);
  const authorized = await authorize(caller, events);
  for (const { accept, value } of events) accept?.(value);
  if (route.body) await assertValid(route.body, asked.body);
  return authorized;
}

type BodySchema = Parameters<typeof validatePayload>[0];

/** The request was valid before the handlers changed it. */
async function assertValid(schema: BodySchema, body: unknown): Promise<void> {
  try {
    await validatePayload(schema, body, "body");
  } catch (error) {
    if (!(error instanceof InvalidRequestError)) throw error;
    throw new GraphServeError("internal_error", `an auth handler made the request invalid: ${error.message}`);
  }
}

/** Events of a protocol that reads threads and starts runs at will, such as MCP. */
export const anyEvents = (): AuthEvent[] => [
  { event: "assistants:read", value: { assistant_id: undefined, metadata: {} } },
  ...ANYTHING.map((action) => ({
    event: `threads:${action}`,
    value: { thread_id: undefined, metadata: {} },
  })),
];

/** The event of a command that starts a run; undefined for one that only reads. */
export function commandEvents(method: string, thread_id: string, params: JsonObject): readonly RouteEvent[] {
  if (method !== "run.start" && method !== "input.respond") return [];
  return createRun(params, { params: { thread_id }, query: {}, body: params });
}
