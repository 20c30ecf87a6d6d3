/** Fields of langgraph.json that have no matching setting. Meaningful ones are reported. */
import type { SourceLocation } from "../support/errors/codes.js";
import type { ConfigDocument, SettingPath } from "./document.js";
import type { Settings } from "./settings.js";

/** An ignored field; the operator gets a warning. */
export interface IgnoredField {
  message: string;
  hint: string;
  location: SourceLocation;
  /** Ignoring the field would weaken access control or encryption that the author configured. */
  protects: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

interface Rule {
  path: SettingPath;
  /** Whether ignoring this value makes a difference. By default, every value does. */
  matters?: (value: unknown, http: Fields) => boolean;
  protects?: boolean;
  /** Settings with the same effect: if one of them is set, the field is not reported. */
  unless?: readonly (keyof Settings)[];
  /** Rest of the message, after the field's name. */
  what: string;
  hint: string;
}

const TAKE_OUT = "remove the field";
const hasMoreThan =
  (...names: string[]) =>
  (value: unknown): boolean =>
    !isFields(value) || Object.keys(value).some((key) => !names.includes(key));
const hasApp = (http: Fields): boolean => http.app !== undefined;

const RULES: readonly Rule[] = [
  {
    path: ["auth"],
    matters: (auth) => !isFields(auth),
    protects: true,
    unless: ["auth", "api_keys"],
    what: "is not applied: every caller could access every thread",
    hint: 'name the Auth object as "auth": { "path": "./auth.ts:auth" }, or set api_keys',
  },
  {
    path: ["auth", "disable_studio_auth"],
    matters: (disabled) => disabled !== true,
    what: "is not applied: requests of LangSmith's Studio authenticate like all others",
    hint: "set it to true, or remove the field",
  },
  {
    path: ["auth", "openapi"],
    what: "is not applied: /openapi.json does not describe how to authenticate",
    hint: TAKE_OUT,
  },
  {
    path: ["auth", "cache"],
    what: "is not applied: every request is authenticated",
    hint: "cache in the authenticate handler, and remove the field",
  },
  {
    path: ["encryption"],
    protects: true,
    what: "is not applied: threads would be stored unencrypted",
    hint: "use the storage's own encryption at rest, and remove the field",
  },
  {
    path: ["http", "apps"],
    protects: true,
    what: "is not applied: these apps would not receive any requests",
    hint: "mount them in one app, and set http.app to it",
  },
  {
    path: ["http", "lifespan"],
    what: "is not applied: a lifespan exists only for apps in Python",
    hint: "open resources in the module of http.app, and remove the field",
  },
  {
    path: ["http", "middleware_order"],
    matters: (order, http) => order === "middleware_first" && hasApp(http),
    what: "is not applied: API keys and auth are checked before the app runs",
    hint: TAKE_OUT,
  },
  {
    path: ["http", "enable_custom_route_auth"],
    matters: (enabled, http) => enabled === false && hasApp(http),
    what: "is not applied: the app's routes require API keys and auth like all others",
    hint: TAKE_OUT,
  },
  { path: ["http", "logging_headers"], what: "is not applied: headers are not logged", hint: TAKE_OUT },
  {
    path: ["ui"],
    what: "is not applied: generative UI components are not served",
    hint: "serve them from your web application",
  },
  { path: ["ui_config"], what: "is not applied: UI components are not served", hint: TAKE_OUT },
  {
    path: ["store"],
    matters: hasMoreThan("ttl", "index"),
    what: "is not applied: only its ttl and index are",
    hint: "compile the graph with your own store",
  },
  {
    path: ["checkpointer"],
    matters: hasMoreThan("ttl"),
    what: "is not applied: only its ttl is",
    hint: "choose the storage with checkpointer_scheme",
  },
  {
    path: ["checkpointer", "ttl", "sweep_limit"],
    what: "is not applied: each sweep removes everything that has expired",
    hint: TAKE_OUT,
  },
  {
    path: ["webhooks"],
    what: "is not applied: the setting webhooks controls webhook delivery and its allowed hosts",
    hint: TAKE_OUT,
  },
];

/** Fields that describe an image or environment build, or identify the file. */
// prettier-ignore
const SILENT = new Set([
  "$schema", "_INTERNAL_docker_tag", "api_version", "base_image", "building", "dependencies", "docker_compose_file",
  "dockerfile_lines", "image_distro", "internal_docker_tag", "keep_pkg_tools", "node_version", "pip_config_file",
  "pip_installer", "python_version", "source",
]);
const SILENT_AUTH = new Set(["path"]);
/** Fields of `http` that map to settings, and switches for features that are not served. */
// prettier-ignore
const SILENT_HTTP = new Set([
  "app", "configurable_headers", "cors", "disable_a2a", "disable_assistants", "disable_mcp", "disable_meta",
  "disable_runs", "disable_store", "disable_threads", "disable_ui", "disable_webhooks", "mount_prefix",
]);

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Ignored fields that make a difference, unless a setting replaces them. */
export function ignoredFields(document: ConfigDocument, settings: Settings): IgnoredField[] {
  const fields = isFields(document.value) ? document.value : {};
  const http = isFields(fields.http) ? fields.http : {};
  return RULES.flatMap(({ path, matters, protects = false, unless = [], what, hint }) => {
    const value = path.reduce<unknown>((inner, key) => (isFields(inner) ? inner[key] : undefined), fields);
    const isReplaced = unless.some((name) => settings[name] !== undefined);
    if (value === undefined || isReplaced || matters?.(value, http) === false) return [];
    return [{ message: `"${path.join(".")}" ${what}`, hint, location: document.locate(path), protects }];
  });
}

export function unknownFields(fields: Fields): SettingPath[] {
  const known = new Set(RULES.map(({ path }) => path.join(".")));
  const unknownIn = (of: Fields, silent: ReadonlySet<string>, at: SettingPath): SettingPath[] =>
    Object.keys(of)
      .filter((key) => !silent.has(key) && !known.has([...at, key].join(".")))
      .map((key) => [...at, key]);
  const { graphs: _graphs, env: _env, http, ...others } = fields;
  return [
    ...unknownIn(others, SILENT, []),
    ...(isFields(fields.auth) ? unknownIn(fields.auth, SILENT_AUTH, ["auth"]) : []),
    ...(isFields(http) ? unknownIn(http, SILENT_HTTP, ["http"]) : []),
  ];
}
