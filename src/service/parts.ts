/** Optional parts of a service, loaded only if a setting or option requires them. */
import { ROUTE_GROUPS, type Settings } from "../config/settings.js";
import type { RunActivity } from "../models/run-activity.js";
import type { OpsContext } from "../context/context.js";
import type { EngineContext } from "../runs/live-runs.js";
import type { Storage } from "../storage/contract/storage.js";
import { ConfigError } from "../support/errors.js";
import type { Logger } from "../support/log.js";
import type { Metrics } from "../support/metrics.js";

/** Frames shared between processes; undefined if they stay in memory. @throws ConfigError (`config_invalid`) */
export async function shareFrames(
  settings: Settings,
  logger: Logger,
  metrics: Metrics | undefined,
): Promise<OpsContext["frames"]> {
  if (settings.stream === "memory") return undefined;
  const { openFrameBus } = await import("../storage/open-frames.js");
  const { SharedFrames } = await import("../frames/shared-frames.js");
  return new SharedFrames(await openFrameBus(settings), logger, metrics);
}

/** A watch that reports the activity of runs to a listener. */
export async function watchWith(listener: (activity: RunActivity) => void): Promise<OpsContext["watch"]> {
  const { RunWatch } = await import("../graphs/stream/run-watch.js");
  return (run) => new RunWatch(run, listener);
}

/** @throws ConfigError if the SDK is missing (`config_invalid`) */
export async function mcpSdkOf(cwd: string): Promise<object> {
  const { loadMcpSdk } = await import("../support/mcp-sdk.js");
  return loadMcpSdk(cwd);
}

/** @throws ConfigError if the SDK is missing (`config_invalid`) */
export async function a2aSdkOf(cwd: string): Promise<object> {
  const { loadA2aSdk } = await import("../support/a2a-sdk.js");
  return loadA2aSdk(cwd);
}

/** A worker serves only health and metrics routes. */
export const settingsOfWorker = (settings: Settings): Settings => ({
  ...settings,
  ...{ studio: false, mcp: false, a2a: false, http_app: undefined },
  disabled_routes: [...ROUTE_GROUPS],
});

/** A factory for the shared queue; undefined without one. @throws ConfigError (`config_invalid`) */
export async function queueMaker(
  settings: Settings,
  storage: Storage,
  { cwd, logger }: { cwd: string; logger: Logger },
): Promise<((context: EngineContext) => EngineContext["queue"]) | undefined> {
  if (settings.queue === "none") return undefined;
  if (settings.stream === "memory")
    logger.warn(
      { queue: settings.queue, stream: settings.stream },
      "another process may execute a queued run, and a client here then receives only its last frame: set stream to redis or postgres, unless this is the only process",
    );
  const table = await storage.openQueue?.(cwd);
  if (!table) {
    throw new ConfigError(
      `queue ${settings.queue} needs the storage postgres, and this one is ${storage.scheme}`,
      { hint: "set queue to none, or open the service without the option storage" },
    );
  }
  const { SharedQueue } = await import("../coordination/shared-queue.js");
  return (context) => new SharedQueue(context, table, settings);
}
