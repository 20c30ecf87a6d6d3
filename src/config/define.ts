import type { SettingsInput } from "./settings.js";

/** Type helper for `graph-server.config.ts`: returns the settings unchanged. */
export function defineConfig(settings: SettingsInput): SettingsInput {
  return settings;
}
