import { pino } from "pino";
import { Closers } from "../closers.js";
import { listenSettings, type ListenFlags } from "../commands/listen-options.js";
import { bytesText, settingsOfFlags } from "../flags.js";
import { openConfigured } from "../open.js";
import { warnIfPublic } from "../public-address.js";
import { loadSettings, type Session } from "../session.js";
import { listenForStop, onStrayError } from "../stop.js";

export interface StartFlags extends ListenFlags {
  shutdownGrace?: string;
  runTimeout?: string;
  bodyLimit?: string;
}

const STRAY = "stray error";
const FAULT_EXIT = 70;

/** `start`: serve in production until told to stop. */
export async function start(session: Session, graphs: readonly string[], flags: StartFlags): Promise<number> {
  const warnings: string[] = [];
  const config = await loadSettings(session, {
    graphs,
    settings: settingsOfFlags(startSettings(flags)),
    warn: (message) => warnings.push(message),
  });
  const { settings } = config;
  const logger = pino({ level: settings.log_level, base: undefined }, session.io.stderr);
  warnIfPublic(settings, (message) => warnings.push(message));
  const stop = listenForStop(session.io, settings.shutdown_grace_seconds);
  const closers = new Closers();
  let reason: string;
  try {
    const service = await openConfigured(config, logger);
    closers.add(() => service.close());
    for (const warning of [...warnings, ...service.notices]) logger.warn({}, warning);
    const { startServer } = await import("../../http/server.js");
    const server = await startServer(service, { host: settings.host, port: settings.port });
    closers.add(() => server.close());
    closers.add(
      onStrayError(session.io, (err) => {
        logger.error({ err }, "an error outside of every run: stopping");
        stop.stop(STRAY);
      }),
    );
    const { scheme, location } = service.storage;
    logger.info(
      { url: server.url, storage: { scheme, location }, graphs: Object.keys(settings.graphs) },
      "listening",
    );
    reason = await stop.stopped;
    logger.info({ reason, grace_seconds: settings.shutdown_grace_seconds }, "stopping");
  } finally {
    await closers.close();
  }
  logger.info({}, "stopped");
  if (reason === STRAY) return FAULT_EXIT;
  stop.done();
  return 0;
}

function startSettings(flags: StartFlags) {
  return {
    ...listenSettings(flags),
    shutdown_grace_seconds: flags.shutdownGrace,
    run_timeout_seconds: flags.runTimeout,
    body_limit: flags.bodyLimit === undefined ? undefined : bytesText(flags.bodyLimit),
  };
}
