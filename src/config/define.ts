import type { SettingsInput } from "./settings.js";

/**
 * Type helper for `graph-server.config.ts`.
 * @param settings the settings; those that are left out have their defaults
 * @returns the settings unchanged
 * @example
 * ```ts
 * import { defineConfig } from "graph-serve";
 *
 * export default defineConfig({
 *   graphs: { agent: "./src/agent.ts:graph" },
 *   checkpointer_scheme: "sqlite",
 *   checkpointer_uri: "./threads.db",
 * });
 * ```
 */
export function defineConfig(settings: SettingsInput): SettingsInput {
  return settings;
}
