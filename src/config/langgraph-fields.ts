/** What becomes of the fields of langgraph.json that no setting comes from: those that say something are named. */
import type { SourceLocation } from "../support/errors.js";
import type { ConfigDocument, SettingPath } from "./document.js";
import type { Settings } from "./settings.js";

/** A field that is ignored; the operator gets a warning. */
export interface IgnoredField {
  message: string;
  hint: string;
  location: SourceLocation;
  /** To serve without it would open what its author has closed. */
  protects: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

interface Rule {
  path: SettingPath;
  /** Whether the value says anything that is missed; any value does when left out. */
  isMissed?: (value: unknown, http: Fields) => boolean;
  protects?: boolean;
  /** Settings that do the same: where one is set, the field is not missed. */
  unless?: readonly (keyof Settings)[];
  /** What follows the field's name. */
  what: string;
  hint: string;
}

const TAKE_OUT = "take the field out";
const hasApp = (http: Fields): boolean => http.app !== undefined;

const RULES: readonly Rule[] = [
  {
    path: ["auth"],
    isMissed: (auth) => !isFields(auth) || auth.path !== undefined,
    protects: true,
    unless: ["auth", "api_keys"],
    what: "is not applied here: every caller could use every thread",
    hint: "set auth to a function that verifies who sends a request (GRAPH_SERVE_AUTH=./auth.ts:authenticate), or set api_keys",
  },
  {
    path: ["encryption"],
    protects: true,
    what: "is not applied here: threads would be stored as they are",
    hint: "encrypt where the storage keeps its data, and take the field out",
  },
  {
    path: ["http", "apps"],
    protects: true,
    what: "is not applied here: none of these apps would see a request",
    hint: "mount them in one app, and name that one in http.app",
  },
  {
    path: ["http", "mount_prefix"],
    what: "is not applied: paths are served without it",
    hint: "let a proxy in front take the prefix off, or embed with createApp",
  },
  {
    path: ["http", "middleware_order"],
    isMissed: (order, http) => order === "middleware_first" && hasApp(http),
    what: "is not applied: keys and auth are asked for before the app",
    hint: TAKE_OUT,
  },
  {
    path: ["http", "enable_custom_route_auth"],
    isMissed: (enabled, http) => enabled === false && hasApp(http),
    what: "is not applied: the app's routes ask for keys and auth as all others do",
    hint: TAKE_OUT,
  },
  {
    path: ["http", "configurable_headers"],
    what: "is not applied: no header becomes part of a run's config",
    hint: "hand over such values as config.configurable, or as the identity that auth gives",
  },
  { path: ["http", "logging_headers"], what: "is not applied: no header is logged", hint: TAKE_OUT },
  {
    path: ["ui"],
    what: "is not applied: components of generative interfaces are not served",
    hint: "serve them with the web application",
  },
  { path: ["ui_config"], what: "is not applied: no components are served", hint: TAKE_OUT },
  {
    path: ["store"],
    what: "is not applied: items are found by their fields, not by meaning, and live on until a ttl of their own ends",
    hint: "bring a store of your own: compile the graph with it",
  },
  {
    path: ["checkpointer"],
    what: "is not applied: checkpoints stay until their thread is deleted",
    hint: "choose the storage by checkpointer_scheme, and give threads a ttl when they are created",
  },
  {
    path: ["webhooks"],
    what: "is not applied: the setting webhooks says whether they are sent, and where to",
    hint: TAKE_OUT,
  },
];

/** Fields that build an image or an environment, or that identify the file. */
// prettier-ignore
const SILENT = new Set([
  "$schema", "_INTERNAL_docker_tag", "api_version", "base_image", "building", "dependencies", "docker_compose_file",
  "dockerfile_lines", "image_distro", "internal_docker_tag", "keep_pkg_tools", "node_version", "pip_config_file",
  "pip_installer", "python_version", "source",
]);
/** Fields of `http` that settings come from, and switches for what is not served anyway. */
// prettier-ignore
const SILENT_HTTP = new Set([
  "app", "cors", "disable_a2a", "disable_assistants", "disable_mcp", "disable_meta", "disable_runs", "disable_store",
  "disable_threads", "disable_ui", "disable_webhooks",
]);

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The fields whose absence is felt, where the settings do not make up for them. */
export function ignoredFields(document: ConfigDocument, settings: Settings): IgnoredField[] {
  const fields = isFields(document.value) ? document.value : {};
  const http = isFields(fields.http) ? fields.http : {};
  return RULES.flatMap(({ path, isMissed, protects = false, unless = [], what, hint }) => {
    const value = path.reduce<unknown>((inner, key) => (isFields(inner) ? inner[key] : undefined), fields);
    const isMadeUpFor = unless.some((name) => settings[name] !== undefined);
    if (value === undefined || isMadeUpFor || isMissed?.(value, http) === false) return [];
    return [{ message: `"${path.join(".")}" ${what}`, hint, location: document.locate(path), protects }];
  });
}

/** Paths of unknown fields. */
export function unknownFields(fields: Fields): SettingPath[] {
  const known = new Set(RULES.map(({ path }) => path.join(".")));
  const strange = (of: Fields, silent: ReadonlySet<string>, at: SettingPath): SettingPath[] =>
    Object.keys(of)
      .filter((key) => !silent.has(key) && !known.has([...at, key].join(".")))
      .map((key) => [...at, key]);
  const { graphs: _graphs, env: _env, http, ...others } = fields;
  return [...strange(others, SILENT, []), ...(isFields(http) ? strange(http, SILENT_HTTP, ["http"]) : [])];
}
