/** Every setting: its type, its default, its description. The one place: --help, the documents and OpenAPI read it. */
import { MASK, maskPasswords, maskSecrets } from "../support/secrets.js";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { limitSettings } from "./limit-settings.js";
import { type CompatChoice, compatDefaults, compatSettings } from "./compat.js";
import { queueSettings } from "./queue-settings.js";
import { storageSettings } from "./storage-settings.js";
import { switchSettings } from "./switch-settings.js";
import { watchdogSettings } from "./watchdog-settings.js";
import { webhookSettings } from "./webhook-settings.js";

// Settings that say who may call; part of ./settings.ts.

/** Printable ASCII: what arrives unchanged in a header. */
const Key = Type.String({ minLength: 8, pattern: "^[\\x21-\\x7e]+$", description: "The key." });

const NamedKey = Type.Object(
  {
    name: Type.String({ minLength: 1, description: "What the access log calls the key." }),
    key: Key,
  },
  { additionalProperties: false },
);

/** Routes that may be open to callers without a key or an identity. */
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

/** Groups of routes that may be left out. */
export const ROUTE_GROUPS = ["assistants", "threads", "runs", "store", "meta"] as const;

const accessSettings = {
  api_keys: Type.Optional(
    Type.Array(Type.Union([Key, NamedKey]), {
      minItems: 1,
      description:
        "Keys, or {name, key}; requests send one as x-api-key or Authorization: Bearer. None is asked for when left out.",
    }),
  ),
  auth: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        "Function that verifies who sends a request, such as ./auth.ts:authenticate; users then have threads and memory of their own.",
    }),
  ),
  auth_timeout_seconds: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 300,
      default: 10,
      description: "Seconds that the auth function has for a request; beyond them it is refused with 503.",
    }),
  ),
  open_routes: Type.Optional(
    Type.Array(
      Type.Unsafe<(typeof OPENABLE_ROUTES)[number]>({ type: "string", enum: [...OPENABLE_ROUTES] }),
      {
        default: ["/ok", "/ready", "/info", "/api/health"],
        description: `Routes that need neither key nor identity, of ${OPENABLE_ROUTES.join(", ")}.`,
      },
    ),
  ),
  http_app: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        "App that sees every request before the server's routes, such as ./app.ts:app: of Hono or Express, or any fetch handler.",
    }),
  ),
  disabled_routes: Type.Optional(
    Type.Array(Type.Unsafe<(typeof ROUTE_GROUPS)[number]>({ type: "string", enum: [...ROUTE_GROUPS] }), {
      default: [],
      description: `Groups of routes that are not served, of ${ROUTE_GROUPS.join(", ")}.`,
    }),
  ),
};

const text = (description: string, options = {}) => Type.Optional(Type.String({ description, ...options }));
const texts = (description: string, value: string[]) =>
  Type.Optional(Type.Array(Type.String(), { description, default: value }));

/** Which web pages may call. */
const corsSettings = {
  cors_origins: texts(
    "Origins whose pages may call, such as https://chat.example.com; loopback is any of this machine, * is any at all.",
    ["loopback"],
  ),
  cors_origin_regex: Type.Optional(
    Type.String({ minLength: 1, description: "Pattern of further origins; the whole origin must match." }),
  ),
  cors_methods: texts("Methods that pages may use.", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]),
  cors_headers: texts("Request headers that pages may send; those asked for when empty.", []),
  cors_expose_headers: texts("Headers of answers that pages may read, besides those of the interface.", []),
  cors_credentials: Type.Optional(
    Type.Boolean({ default: false, description: "Let pages send cookies and other credentials." }),
  ),
  cors_max_age: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        "Seconds that browsers may keep the answer of a preflight; theirs to choose when left out.",
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
    default_assistant_id: text("Key of `graphs` that is the assistant; the first one when left out."),
    assistant_namespace: text("URI namespace of the assistants' UUIDs; urn:uuid:… is the namespace itself.", {
      default: DEFAULT_ASSISTANT_NAMESPACE,
    }),
    assistant_name: text("Name of the assistant; the graph's id when left out."),
    assistant_description: text("Description of the assistant."),
    welcome_message: text("Text of the initial-message endpoint.", {
      default: "Hello! How can I help you today?",
    }),
    list_all_assistants: Type.Optional(
      Type.Boolean({
        default: false,
        description: "List every graph as an assistant with a UUID of its own, not the default one alone.",
      }),
    ),
    host: text("Address to listen on.", { default: DEFAULT_HOST }),
    port: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 65535,
        default: DEFAULT_PORT,
        description: "Port to listen on; 0 picks one.",
      }),
    ),
    allowed_hosts: texts("Host names to answer to besides localhost, *.localhost and IP addresses.", []),
    ...corsSettings,
    ...accessSettings,
    ...switchSettings,
    ...webhookSettings,
    run_timeout_seconds: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        description: "Longest time of a run over all its attempts, waiting not counted; none when left out.",
      }),
    ),
    resume_runs: Type.Optional(
      Type.Boolean({
        default: true,
        description:
          "Resume runs of crashed processes from their last checkpoint, if the storage is durable; otherwise they end with status error.",
      }),
    ),
    ...limitSettings,
    shutdown_grace_seconds: Type.Optional(
      Type.Number({
        minimum: 0,
        default: 10,
        description: "Seconds that runs in flight have when the server stops.",
      }),
    ),
    ...watchdogSettings,
    allow_unfiltered_events: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          "Allow stream mode events, with all its data, on a graph whose output schema hides part of its state.",
      }),
    ),
    hold_messages: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          "Hold tokens until their node has ended, and hide inputs and outputs of tool calls, where they may be written to a state key outside the output schema.",
      }),
    ),
    allow_unfiltered_messages: Type.Optional(
      Type.Boolean({
        deprecated: true,
        description: "Deprecated and without effect: messages are streamed live. Use hold_messages.",
      }),
    ),
    ...compatSettings,
    ignore_on_disconnect_continue: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          "Interrupt a run when its client disconnects, also one that asked for on_disconnect continue.",
      }),
    ),
    log_level: Type.Optional(
      Type.Unsafe<"debug" | "info" | "warn" | "error" | "silent">({
        type: "string",
        enum: ["debug", "info", "warn", "error", "silent"],
        default: "info",
        description: "Least severe message that is logged.",
      }),
    ),
    env: Type.Optional(
      Type.Union([Type.String(), Type.Record(Type.String(), Type.String())], {
        description:
          "Env file to read, or variables, for the graphs and for ${VAR} in this file; `.env` beside it when left out.",
      }),
    ),
  },
  { additionalProperties: false, title: "graph-serve settings" },
);

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
  | "log_level";

/**
 * All settings with their defaults filled in; frozen. `graphs` maps each id to `path:export`, `graph_descriptions` those
 * that are described to what they do.
 */
export type Settings = Readonly<
  Required<Pick<SettingsInput, WithDefault>> &
    Omit<SettingsInput, WithDefault | "graphs"> & {
      graphs: Readonly<Record<string, string>>;
      graph_descriptions?: Readonly<Record<string, string>>;
    }
>;

/** The defaults: those of the schema, and those that `compat` replaces. */
export function defaultSettings(choice: CompatChoice = {}): Settings {
  const defaults: Record<string, unknown> = { graphs: {} };
  for (const [name, schema] of Object.entries<TSchema>(SettingsSchema.properties)) {
    if (schema.default !== undefined) defaults[name] = structuredClone(schema.default);
  }
  return { ...defaults, ...compatDefaults(choice), compat: choice.compat ?? "specification" } as Settings;
}

/** The settings without their secrets: passwords in URIs, variables, keys, options that are named like one. */
export function maskSettings(settings: Settings): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [name, maskSetting(name, value)]),
  );
}

function maskSetting(name: string, value: unknown): unknown {
  if (typeof value === "string") return maskPasswords(value);
  if (name === "api_keys" && Array.isArray(value)) return value.map(maskKey);
  if (name === "env") return maskSecrets(value, true);
  if (name === "webhooks") return maskSecrets(value);
  // What backends take is theirs to name.
  return name === "checkpointer_options" ? maskSecrets(value) : value;
}

const maskKey = (key: string | { name: string; key: string }) =>
  typeof key === "string" ? MASK : { ...key, key: MASK };

/** Placeholder in a file for a value that comes from a variable. */
const VARIABLE = {
  type: "string",
  pattern: "\\$\\{[^}]+\\}",
  description: "`${VAR}`, or `${VAR:-default}`.",
};

/** The schema of a configuration file, for editors: where it is named, and where variables stand, is allowed too. */
export function publishedSettingsSchema(): Record<string, unknown> {
  const { properties, ...schema } = JSON.parse(JSON.stringify(SettingsSchema)) as {
    properties: Record<string, Record<string, unknown>>;
  };
  const settings = Object.entries(properties).map(([name, setting]) => {
    const { description, default: preset, deprecated, ...type } = setting;
    if (type.type === "string" && Object.keys(type).length === 1) return [name, setting];
    const said = {
      description,
      ...(preset !== undefined && { default: preset }),
      ...(deprecated !== undefined && { deprecated }),
    };
    return [name, { ...said, anyOf: [type, VARIABLE] }];
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
