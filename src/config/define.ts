import type { SettingsInput } from "./settings.js";

/** Return the settings as they are; gives a `graph-server.config.ts` its types and completion. */
export function defineConfig(settings: SettingsInput): SettingsInput {
  return settings;
}
