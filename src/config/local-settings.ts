/** Settings of services that share nothing with other processes: graph checks, test cases, and `--db memory`. */
import type { Settings } from "./settings.js";
import type { SettingOrigin } from "./load.js";
import { capabilitiesOf } from "./storage-capabilities.js";

/** The same settings for a service in memory: without the configured storage, stream, queue and role. */
export function inMemory(settings: Settings): Settings {
  const { checkpointer_uri: _uri, ...rest } = withoutQueue(settings);
  return { ...rest, checkpointer_scheme: "memory", checkpointer_options: {} };
}

/** The same settings for the only process on its storage: it executes its own runs and keeps their frames. */
export function withoutQueue(settings: Settings): Settings {
  const { stream_uri: _stream, ...rest } = settings;
  return { ...rest, queue: "none", role: "all", stream: "memory" };
}

/** Removes a configured queue if a flag replaces the storage with one that cannot hold it. */
export function withStorageOfFlags(
  settings: Settings,
  { checkpointer_scheme, queue }: Record<"checkpointer_scheme" | "queue", SettingOrigin>,
): Settings {
  const isReplaced = checkpointer_scheme.kind === "flag" && queue.kind !== "flag";
  const keepsQueue = settings.queue === "none" || capabilitiesOf(settings.checkpointer_scheme)?.queue;
  if (!isReplaced || keepsQueue) return settings;
  return Object.freeze(withoutQueue(settings));
}
