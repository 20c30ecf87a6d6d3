/** Reads the configuration of an existing LangGraph project as settings. */
import type { ConfigDocument, SettingPath } from "./document.js";

/** Keys of langgraph.json that say nothing to this server. */
// prettier-ignore
const TOLERATED = new Set([
  "$schema", "_INTERNAL_docker_tag", "api_version", "base_image", "building", "checkpointer", "dependencies",
  "dockerfile_lines", "http", "image_distro", "internal_docker_tag", "keep_pkg_tools", "node_version", "pip_config_file",
  "pip_installer", "python_version", "source", "store", "ui", "ui_config", "webhooks",
]);

const CORS_SETTINGS = {
  allow_origins: "cors_origins",
  allow_methods: "cors_methods",
  allow_headers: "cors_headers",
};

export interface LangGraphProject {
  settings: Record<string, unknown>;
  warnings: string[];
  /** Where in langgraph.json a setting comes from. */
  pathOf: (path: SettingPath) => SettingPath;
}

export function readLangGraphJson(document: ConfigDocument): LangGraphProject {
  const { graphs, env, ...others } = (document.value ?? {}) as Record<string, unknown>;
  const settings: Record<string, unknown> = {
    ...(graphs !== undefined && { graphs }),
    ...(env !== undefined && { env }),
  };
  const origins = new Map<string, SettingPath>();
  const cors = (others.http as { cors?: Record<string, unknown> } | undefined)?.cors ?? {};
  for (const [key, name] of Object.entries(CORS_SETTINGS)) {
    if (cors[key] === undefined) continue;
    settings[name] = cors[key];
    origins.set(name, ["http", "cors", key]);
  }
  return {
    settings,
    warnings: Object.keys(others).flatMap((key) => warningFor(key, document)),
    pathOf: ([name, ...rest]) => [...(origins.get(String(name)) ?? [String(name)]), ...rest],
  };
}

function warningFor(key: string, document: ConfigDocument): string[] {
  if (TOLERATED.has(key)) return [];
  const { file, line } = document.locate([key]);
  const where = `${file}:${line ?? 1}`;
  if (key === "auth") return [`${where}: "auth" is not applied: every caller may use every thread`];
  return [`${where}: key "${key}" is unknown and ignored`];
}
