/** Builds the OpenAPI 3.1 document from the same route table and schemas that serve the requests. */
import type { TObject, TSchema } from "@sinclair/typebox";
import { ErrorResponse, type JsonObject } from "../models/common.js";
import { ERROR_CODES } from "../support/errors/codes.js";
import { VERSION } from "../support/own-package.js";
import { PATH_PARAMETERS, pathParameters, type Route, type ServedErrorCode, type Tag } from "./core/route.js";
import type { ResponseSpec } from "./core/reply.js";

interface OpenApiDocument {
  openapi: "3.1.0";
  info: {
    title: string;
    version: string;
    description: string;
    license: { name: string; identifier: string };
  };
  servers: { url: string; description: string }[];
  tags: { name: Tag; description: string }[];
  paths: Record<string, Record<string, JsonObject>>;
  components: { schemas: Record<string, JsonObject>; securitySchemes?: Record<string, JsonObject> };
  security?: Record<string, string[]>[];
}

/** Set if requests need an API key. */
export interface KeySecurity {
  /** Paths that need no key. */
  openRoutes: readonly string[];
}

const SECURITY_SCHEMES = {
  api_key: {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
    description: "A key from the setting api_keys, as SDK clients send it.",
  },
  bearer: { type: "http", scheme: "bearer", description: "A key from the setting api_keys." },
};
/** Either scheme is sufficient. */
const ANY_SCHEME = Object.keys(SECURITY_SCHEMES).map((name) => ({ [name]: [] }));

const TAGS: Record<Tag, string> = {
  "Health and info": "Liveness and identity of the service.",
  Assistants: "Named entry points to graphs.",
  Threads: "Conversations: each contains the evolving state of a graph.",
  "Thread state": "Checkpoints of a thread: read, edit, fork.",
  Changes: "Event stream of changed threads and runs, for lists.",
  Runs: "Executions of a graph on a thread.",
  Usage: "Tokens and costs of model calls.",
  Crons: "Runs that are executed on a schedule; requires the setting crons.",
  Webhooks: "Results of runs that are delivered to a URL; requires the setting webhooks.",
  "Events and commands":
    "Event streaming: one stream of events and commands for a thread, used by newer clients.",
  Store: "Long-term memory shared by graphs across threads.",
};

/** When a server returns each error code. */
export const ERROR_TEXTS: Record<ServedErrorCode, string> = {
  invalid_request: "the path, the query or the body is invalid; `detail` lists each error",
  unsupported_option: "an option is not supported by this version",
  unauthorized: "missing or invalid API key or identity",
  route_not_found: "the route is not served",
  read_only: "the server is read-only, as with `graph-serve studio`",
  forbidden: "the auth handler or a scope of the user does not allow the request",
  method_not_allowed: "the path does not support this method; `Allow` lists the supported methods",
  forbidden_origin: "the Host header or the origin of the calling web page is not allowed",
  thread_not_found: "the thread does not exist",
  run_not_found: "the run does not exist on the thread",
  assistant_not_found: "the assistant does not exist",
  checkpoint_not_found: "the checkpoint does not exist on the thread",
  cron_not_found: "the cron does not exist",
  webhook_not_found: "the run has no webhook, or it has been delivered",
  thread_exists: "a thread with this id already exists",
  assistant_exists: "an assistant with this id already exists",
  thread_busy: "the thread has an active run, or too many callers wait for it",
  thread_changed: "another writer changed the thread concurrently",
  run_not_redrivable:
    "the run is not dead, or cannot be requeued because its graph does not exist or its thread has changed since",
  graph_changed: "the thread waits in a node that the graph no longer has",
  graph_not_loaded: "the operation needs a graph that does not load",
  too_many_streams: "too many event streams of the thread are open",
  too_many_runs:
    "the limit of runs (max_active_runs, max_waiting_runs, max_waiting_runs_per_user), crons, delayed runs or unsent webhooks is reached",
  payload_too_large: "the body is larger than the setting body_limit",
  storage_unavailable: "the storage is unreachable",
  clock_behind: "the server's clock is behind the newest checkpoint of the thread",
  auth_timeout: "the auth function timed out",
  embedding_failed: "the embedding function of the setting store_index failed",
  server_busy: "the request bodies being read exceed the setting max_incoming_bytes",
  shutting_down: "the server is shutting down",
  internal_error: "an internal error; the server's log has the details",
};

/** Builds the document. The same routes always produce the same text. */
export function buildOpenApi(routes: readonly Route[], keys?: KeySecurity): OpenApiDocument {
  const components = createComponents();
  const paths: OpenApiDocument["paths"] = {};
  for (const route of routes) {
    const isOpen = keys?.openRoutes.includes(route.path);
    (paths[route.path] ??= {})[route.method] = {
      ...operation(route, components, keys && !isOpen ? ["unauthorized"] : []),
      ...(isOpen && { security: [] }),
    };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "graph-serve",
      version: VERSION,
      description: "Serves compiled LangGraph.js graphs: threads, runs, checkpoints and event streams.",
      license: { name: "MIT", identifier: "MIT" },
    },
    // Relative to this document, so that it works under any mount prefix.
    servers: [{ url: ".", description: "This server." }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name: name as Tag, description })),
    paths,
    components: { schemas: components.all(), ...(keys && { securitySchemes: SECURITY_SCHEMES }) },
    ...(keys && { security: ANY_SCHEME }),
  };
}

function operation(route: Route, components: Components, errors: readonly ServedErrorCode[]): JsonObject {
  const parameters = [
    ...pathParameters(route.path).map((name) => parameter("path", name, PATH_PARAMETERS[name], components)),
    ...named("query", route.query, components),
    ...named("header", route.requestHeaders, components),
  ];
  return {
    operationId: route.id,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description && { description: route.description }),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body && { requestBody: requestBody(route.body, components) }),
    responses: {
      ...Object.fromEntries(route.responses.map((spec) => [spec.status, response(spec, components)])),
      ...errorResponses([...errors, ...errorCodes(route)], components),
    },
  };
}

function named(place: string, schema: TObject | undefined, components: Components): JsonObject[] {
  const { properties = {}, required = [] } = schema ?? {};
  return Object.entries(properties).map(([name, field]) =>
    parameter(place, name, field, components, required.includes(name)),
  );
}

function parameter(
  place: string,
  name: string,
  schema: TSchema,
  components: Components,
  required = true,
): JsonObject {
  const { description, ...rest } = components.use(schema);
  return { name, in: place, required, description, schema: rest };
}

function requestBody(schema: TSchema, components: Components): JsonObject {
  return {
    required: (schema.required as string[] | undefined) !== undefined,
    description: `${schema.description} Any content type is read as JSON; an empty body is \`{}\`.`,
    content: { "application/json": { schema: components.use(schema) } },
  };
}

function response(spec: ResponseSpec, components: Components): JsonObject {
  const { description, schema, contentType = "application/json", headers } = spec;
  return {
    description,
    ...(headers && { headers: responseHeaders(headers, components) }),
    ...(schema && { content: { [contentType]: { schema: components.use(schema) } } }),
  };
}

function responseHeaders(headers: Record<string, TSchema>, components: Components): JsonObject {
  const entries = Object.entries(headers).map(([name, header]) => {
    const { description, ...schema } = components.use(header);
    return [name, { description, schema }];
  });
  return Object.fromEntries(entries) as JsonObject;
}

/** Error responses of a route, by status. */
function errorResponses(codes: readonly ServedErrorCode[], components: Components): JsonObject {
  const byStatus = new Map<number, ServedErrorCode[]>();
  for (const code of codes) {
    const { status } = ERROR_CODES[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const schema = components.use(ErrorResponse);
  const entries = [...byStatus].map(([status, codes]) => [status, errorResponse(status, codes, schema)]);
  return Object.fromEntries(entries) as JsonObject;
}

/** The error codes of a route: its own, and those common to routes of its kind. */
function errorCodes(route: Route): ServedErrorCode[] {
  const takesInput = route.body ?? route.query ?? route.path.includes("_id}");
  return [
    ...route.errors,
    ...(takesInput ? (["invalid_request"] as const) : []),
    ...(route.body ? (["payload_too_large", "server_busy"] as const) : []),
    "forbidden_origin",
    ...(route.tag === "Health and info" ? [] : (["storage_unavailable", "shutting_down"] as const)),
    "internal_error",
  ];
}

function errorResponse(status: number, codes: readonly ServedErrorCode[], schema: JsonObject): JsonObject {
  const retry = {
    "Retry-After": { description: "Seconds to wait before retrying.", schema: { type: "integer" } },
  };
  return {
    description: codes.map((code) => `\`${code}\`: ${ERROR_TEXTS[code]}.`).join(" "),
    ...(status === 503 && { headers: retry }),
    content: { "application/json": { schema } },
  };
}

// Schemas with a title become components of that name and are referenced.

interface Components {
  /** The schema with titled parts replaced by references. */
  use(schema: object): JsonObject;
  /** All components collected so far, by name. */
  all(): Record<string, JsonObject>;
}

/** The pattern that TypeBox uses for a map with any key. */
const ANY_KEY = "^(.*)$";

function createComponents(): Components {
  const components = new Map<string, JsonObject>();

  function convert(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(convert);
    if (typeof value !== "object" || value === null) return value;
    const node = value as JsonObject;
    return typeof node.title === "string" ? hoist(node.title, node) : convertFields(node);
  }

  function convertFields(node: JsonObject): JsonObject {
    const fields: JsonObject = {};
    for (const [key, value] of Object.entries(node)) {
      const map = key === "patternProperties" ? (value as JsonObject)[ANY_KEY] : undefined;
      if (map) fields.additionalProperties = convert(map);
      else fields[key] = convert(value);
    }
    return fields;
  }

  function hoist(title: string, node: JsonObject): JsonObject {
    const { title: _, ...rest } = node;
    const component = convertFields(rest);
    const known = components.get(title);
    if (known) assertSame(title, known, component);
    else components.set(title, component);
    const reference = { $ref: `#/components/schemas/${title}` };
    const { description } = components.get(title) ?? {};
    return node.description === description ? reference : { ...reference, description: node.description };
  }

  return {
    use: (schema) => convert(schema) as JsonObject,
    all: () => Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

function assertSame(title: string, one: JsonObject, other: JsonObject): void {
  const text = (schema: JsonObject) => JSON.stringify({ ...schema, description: undefined });
  if (text(one) !== text(other)) throw new Error(`two different schemas have the title ${title}`);
}
