/** Records the calls of models and tools of a server in production. */
import { resolve } from "node:path";
import { foundOnly } from "../../client/client.js";
import type { LoadedConfig } from "../../config/load.js";
import { keepsNoRecordings } from "../../config/recording-settings.js";
import type { Service } from "../../service/service.js";
import type { Logger } from "../../support/log.js";
import type { ProductionRecordings, RecordingPlace } from "../../testing/recording/production.js";
import { openConfigured } from "../session/open.js";
import type { Session } from "../session/session.js";
import type { Closers } from "../session/stop.js";

interface Opening {
  config: LoadedConfig;
  logger: Logger;
  closers: Closers;
}

/** Opens the service of a server, with recordings if the setting `recording` asks for them. */
export async function openRecorded(session: Session, { config, logger, closers }: Opening): Promise<Service> {
  const recordings = await recordingsOf(session, config, logger);
  if (recordings) closers.add(() => recordings.close());
  const service = await openConfigured(config, logger, {
    mode: "serve",
    callFactories: true,
    ...(recordings && { onThreadRemoved: (id) => recordings.forget(id) }),
  });
  closers.add(() => service.close());
  if (!recordings) return service;
  service.beforeClose(() => recordings.close());
  const exists = async (id: string) => (await foundOnly(service.threads.get(id))) !== undefined;
  await recordings.start(await placeOf(service, config), exists);
  return service;
}

async function recordingsOf(
  { io }: Session,
  { settings, env }: LoadedConfig,
  logger: Logger,
): Promise<ProductionRecordings | undefined> {
  const { recording } = settings;
  if (!recording) return undefined;
  const [{ keepMsOf, ProductionRecordings }, { createRedaction }] = await Promise.all([
    import("../../testing/recording/production.js"),
    import("../../testing/cases/redact.js"),
  ]);
  return new ProductionRecordings({
    share: recording.share ?? 1,
    keepMs: keepMsOf(recording.keep ?? "14d"),
    redact: createRedaction({ ...process.env, ...io.env, ...env }, recording.redact),
    onError: (err) => logger.warn({ err }, "a recording could not be written or deleted"),
  });
}

/** @throws ConfigError if a custom storage does not keep recordings (`config_invalid`) */
async function placeOf(
  { recordings, storage }: Service,
  { settings: { recording }, baseDir }: LoadedConfig,
): Promise<RecordingPlace> {
  const { inFolder, inStorage } = await import("../../testing/recording/production.js");
  if (recording?.where !== "storage") return inFolder(resolve(baseDir, recording?.folder ?? ""));
  if (recordings) return inStorage(recordings);
  throw keepsNoRecordings(storage.scheme);
}
