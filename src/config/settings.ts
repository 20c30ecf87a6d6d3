/**
 * Every setting with its type, default and description. --help, the docs and OpenAPI are generated
 * from it.
 */
import { MASK, maskPasswords, maskSecrets } from "../support/secrets.js";
import type { Static, TSchema } from "@sinclair/typebox";
import { Type } from "../support/schema-builder.js";
import { limitSettings } from "./limit-settings.js";
import { metricsSettings } from "./metrics-settings.js";
import { type CompatChoice, compatDefaults, compatSettings } from "./compat.js";
import { logSettings, processSettings } from "./process-settings.js";
import { queueSettings } from "./queue-settings.js";
import { recordingSettings } from "./recording-settings.js";
import { storageSettings } from "./storage-settings.js";
import { switchSettings } from "./switch-settings.js";
import { ttlSettings } from "./ttl-settings.js";
import { usageSettings } from "./usage-settings.js";
import { watchdogSettings } from "./watchdog-settings.js";
import { webhookSettings } from "./webhook-settings.js";

/** Printable ASCII: survives unchanged in a header. */
const Key = Type.String({ minLength: 8, pattern: "^[\\x21-\\x7e]+$", description: "The key." });

const NamedKey = Type.Object(
  {
    name: Type.String({ minLength: 1, description: "Name of the key in the access log." }),
    key: Key,
  },
  { additionalProperties: false },
);

const OPENABLE_ROUTES = [
  "/ok",
  "/ready",
  "/info",
  "/api/health",
  "/api/initial-message",
  "/docs",
  "/openapi.json",
  "/metrics",
] as const;

export const ROUTE_GROUPS = ["assistants", "threads", "runs", "store", "meta"] as const;

const text = (description: string, options = {}) => Type.Optional(Type.String({ description, ...options }));
const texts = (description: string, value: string[]) =>
  Type.Optional(Type.Array(Type.String(), { description, default: value }));

const accessSettings = {
  api_keys: Type.Optional(
    Type.Array(Type.Union([Key, NamedKey]), {
      minItems: 1,
      description:
        "API keys, as strings or {name, key}; requests send one as x-api-key or Authorization: Bearer. Default: no key required.",
    }),
  ),
  auth: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        "Function that authenticates requests, such as ./auth.ts:authenticate, or an Auth object of LangGraph; each user then has separate threads and memory.",
    }),
  ),
  auth_timeout_seconds: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 300,
      default: 10,
      description:
        "Timeout of the auth function and of each auth handler, in seconds; beyond it, the request is rejected with 503.",
    }),
  ),
  open_routes: Type.Optional(
    Type.Array(
      Type.Unsafe<(typeof OPENABLE_ROUTES)[number]>({ type: "string", enum: [...OPENABLE_ROUTES] }),
      {
        default: ["/ok", "/ready", "/info", "/api/health"],
        description: `Routes that need neither a key nor an identity; any of ${OPENABLE_ROUTES.join(", ")}.`,
      },
    ),
  ),
  http_app: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        "App that handles every request before the server's routes, such as ./app.ts:app: a Hono or Express app, or any fetch handler.",
    }),
  ),
  mount_prefix: Type.Optional(
    Type.String({
      pattern: "^(/[A-Za-z0-9._~-]+)+$",
      description:
        "Path below which the server serves everything, such as /agents; /ok and /ready are also served without it.",
    }),
  ),
  configurable_headers: Type.Optional(
    Type.Object(
      {
        includes: texts(
          "Names of headers, with * for any characters. Authorization, cookie and x-api-key must be named in full.",
          ["x-*", "user-agent"],
        ),
        excludes: texts("Names of headers that are not copied, with * for any characters.", []),
      },
      {
        additionalProperties: false,
        description:
          "Request headers that are copied to config.configurable of the runs that a request starts.",
      },
    ),
  ),
  disabled_routes: Type.Optional(
    Type.Array(Type.Unsafe<(typeof ROUTE_GROUPS)[number]>({ type: "string", enum: [...ROUTE_GROUPS] }), {
      default: [],
      description: `Groups of routes that are not served; any of ${ROUTE_GROUPS.join(", ")}.`,
    }),
  ),
};

const corsSettings = {
  cors_origins: texts(
    "Allowed CORS origins, such as https://chat.example.com; loopback allows any origin on this machine, * allows any origin.",
    ["loopback"],
  ),
  cors_origin_regex: Type.Optional(
    Type.String({
      minLength: 1,
      description: "Regular expression for additional CORS origins; it must match the whole origin.",
    }),
  ),
  cors_methods: texts("Allowed CORS methods.", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]),
  cors_headers: texts("Allowed CORS request headers; if empty, the headers that the preflight requests.", []),
  cors_expose_headers: texts("Response headers exposed to pages, in addition to those of the API.", []),
  cors_credentials: Type.Optional(
    Type.Boolean({
      default: false,
      description: "Allow cross-origin requests with cookies and other credentials.",
    }),
  ),
  cors_max_age: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        "Seconds for which browsers can cache a preflight response. Default: chosen by the browser.",
    }),
  ),
};

const DEFAULT_ASSISTANT_NAMESPACE = "https://graph-serve.local/assistants";
const DEFAULT_PORT = 2024;
const DEFAULT_HOST = "127.0.0.1";

export const SettingsSchema = Type.Object(
  {
    graphs: Type.Optional(
      Type.Record(
        Type.String({ minLength: 1 }),
        Type.Union([
          Type.String({ minLength: 1 }),
          Type.Object(
            {
              path: Type.String({
                minLength: 1,
                description: "File and export, such as ./src/agent.ts:graph.",
              }),
              description: text("What the graph does."),
            },
            { additionalProperties: false },
          ),
        ]),
        {
          description: "The graphs to serve: assistant id -> file and export, such as ./src/agent.ts:graph.",
        },
      ),
    ),
    ...storageSettings,
    ...queueSettings,
    ...processSettings,
    default_assistant_id: text("Key of `graphs` that is the default assistant. Default: the first key."),
    assistant_namespace: text(
      "URI that the namespace of assistant UUIDs is derived from; urn:uuid:… is used as the namespace itself.",
      {
        default: DEFAULT_ASSISTANT_NAMESPACE,
      },
    ),
    assistant_name: text("Name of the assistant. Default: the graph's id."),
    assistant_description: text("Description of the assistant."),
    graph_version: text(
      "Name of the graphs' code, such as a commit. It becomes part of the version of every graph, which otherwise changes only with nodes, edges, state keys and schemas.",
    ),
    migrations: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "File whose default export is a list of migrations, such as ./migrations.ts: they convert stored threads to the current version of their graph.",
      }),
    ),
    welcome_message: text("Text returned by the initial-message endpoint.", {
      default: "Hello! How can I help you today?",
    }),
    list_all_assistants: Type.Optional(
      Type.Boolean({
        default: false,
        description: "List every graph as an assistant with its own UUID, instead of only the default one.",
      }),
    ),
    host: text("Address to listen on.", { default: DEFAULT_HOST }),
    port: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 65535,
        default: DEFAULT_PORT,
        description: "Port to listen on; 0 picks a free port.",
      }),
    ),
    allowed_hosts: texts("Allowed Host headers, in addition to localhost, *.localhost and IP addresses.", []),
    ...corsSettings,
    ...accessSettings,
    ...switchSettings,
    ...metricsSettings,
    ...webhookSettings,
    ...usageSettings,
    ...ttlSettings,
    ...recordingSettings,
    run_timeout_seconds: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        description:
          "Timeout of a run in seconds, over all its attempts, without waiting time. Default: no timeout.",
      }),
    ),
    resume_runs: Type.Optional(
      Type.Boolean({
        default: true,
        description:
          "Resume runs of crashed processes from their last checkpoint if the storage is durable; otherwise they end with status error.",
      }),
    ),
    ...limitSettings,
    shutdown_grace_seconds: Type.Optional(
      Type.Number({
        minimum: 0,
        default: 10,
        description: "Seconds that active runs have to finish when the server shuts down.",
      }),
    ),
    ...watchdogSettings,
    allow_unfiltered_events: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          "Allow stream mode events, which exposes all data, on a graph whose output schema hides part of its state.",
      }),
    ),
    hold_messages: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          "Hold tokens until their node has ended, and hide tool inputs and outputs, if they could be written to a state key outside the output schema.",
      }),
    ),
    allow_unfiltered_messages: Type.Optional(
      Type.Boolean({
        deprecated: true,
        description: "Deprecated, no effect: messages are streamed live. Use hold_messages.",
      }),
    ),
    ...compatSettings,
    ignore_on_disconnect_continue: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          "Interrupt a run when its client disconnects, even if the request sets on_disconnect to continue.",
      }),
    ),
    ...logSettings,
    env: Type.Optional(
      Type.Union([Type.String(), Type.Record(Type.String(), Type.String())], {
        description:
          "Env file, or an object of variables, for the graphs and for ${VAR} in this file. Default: `.env` next to this file.",
      }),
    ),
  },
  { additionalProperties: false, title: "graph-serve settings" },
);

/**
 * Settings as a configuration file contains them; all are optional. See docs/settings.md for their
 * units and defaults.
 * @example
 * ```ts
 * import type { SettingsInput } from "graph-serve";
 *
 * const settings: SettingsInput = { graphs: { agent: "./src/agent.ts:graph" }, run_timeout_seconds: 60 };
 * ```
 */
export type SettingsInput = Static<typeof SettingsSchema>;

export type SettingName = keyof SettingsInput;

type WithDefault =
  | "checkpointer_scheme"
  | "checkpointer_options"
  | "stream"
  | "queue"
  | "role"
  | "max_concurrent_runs"
  | "max_attempts"
  | "processes"
  | "assistant_namespace"
  | "welcome_message"
  | "list_all_assistants"
  | "host"
  | "port"
  | "allowed_hosts"
  | "cors_origins"
  | "cors_methods"
  | "cors_headers"
  | "cors_expose_headers"
  | "cors_credentials"
  | "auth_timeout_seconds"
  | "open_routes"
  | "disabled_routes"
  | "resume_runs"
  | "body_limit"
  | "max_incoming_bytes"
  | "max_unread_bytes"
  | "max_kept_frame_bytes"
  | "unread_timeout_seconds"
  | "max_active_runs"
  | "max_queued_runs"
  | "shutdown_grace_seconds"
  | "stall_warning_seconds"
  | "stall_exit_seconds"
  | "allow_unfiltered_events"
  | "hold_messages"
  | "ignore_on_disconnect_continue"
  | keyof typeof compatSettings
  | keyof typeof switchSettings
  | "metrics"
  | "prices"
  | keyof typeof logSettings;

/**
 * All settings with their defaults; frozen.
 * `graphs` maps each id to `path:export`; `graph_descriptions` maps the ids that have a description
 * to it.
 * @example
 * ```ts
 * import { openService, type Settings } from "graph-serve";
 * import { graph } from "./graph.js";
 *
 * const settings: Partial<Settings> = { max_active_runs: 20, run_timeout_seconds: 60 };
 * const service = await openService({ graphs: { agent: graph }, settings });
 * service.settings.checkpointer_scheme; // => "memory"
 * await service.close();
 * ```
 */
export type Settings = Readonly<
  Required<Pick<SettingsInput, WithDefault>> &
    Omit<SettingsInput, WithDefault | "graphs"> & {
      graphs: Readonly<Record<string, string>>;
      graph_descriptions?: Readonly<Record<string, string>>;
    }
>;

/** Defaults of the schema, with the replacements of `compat`. */
export function defaultSettings(choice: CompatChoice = {}): Settings {
  const defaults: Record<string, unknown> = { graphs: {} };
  for (const [name, schema] of Object.entries<TSchema>(SettingsSchema.properties)) {
    if (schema.default !== undefined) defaults[name] = structuredClone(schema.default);
  }
  return { ...defaults, ...compatDefaults(choice), compat: choice.compat ?? "specification" } as Settings;
}

/**
 * The settings with secrets masked: passwords in URIs, variables, keys, and options with
 * secret-like names.
 */
export function maskSettings(settings: Settings): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [name, maskSetting(name, value)]),
  );
}

function maskSetting(name: string, value: unknown): unknown {
  if (name === "metrics_key") return MASK;
  if (typeof value === "string") return maskPasswords(value);
  if (name === "api_keys" && Array.isArray(value)) return value.map(maskKey);
  if (name === "env") return maskSecrets(value, true);
  if (name === "webhooks") return maskSecrets(value);
  // Backends define their own options, so mask by name.
  return name === "checkpointer_options" ? maskSecrets(value) : value;
}

const maskKey = (key: string | { name: string; key: string }) =>
  typeof key === "string" ? MASK : { ...key, key: MASK };

const VARIABLE = {
  type: "string",
  pattern: "\\$\\{[^}]+\\}",
  description: "`${VAR}`, or `${VAR:-default}`.",
};

/**
 * JSON schema of a configuration file for editors; also accepts `$schema` and variables in place of
 * values.
 */
export function publishedSettingsSchema(): Record<string, unknown> {
  const { properties, ...schema } = JSON.parse(JSON.stringify(SettingsSchema)) as {
    properties: Record<string, Record<string, unknown>>;
  };
  const settings = Object.entries(properties).map(([name, setting]) => {
    const { description, default: preset, deprecated, ...type } = setting;
    if (type.type === "string" && Object.keys(type).length === 1) return [name, setting];
    const annotations = {
      description,
      ...(preset !== undefined && { default: preset }),
      ...(deprecated !== undefined && { deprecated }),
    };
    return [name, { ...annotations, anyOf: [type, VARIABLE] }];
  });
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    ...schema,
    properties: {
      $schema: { type: "string", description: "This schema, for editors." },
      ...(Object.fromEntries(settings) as Record<string, unknown>),
    },
  };
}
