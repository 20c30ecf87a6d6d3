import type { Command } from "@commander-js/extra-typings";
import type { LoadedConfig } from "../../config/load.js";
import { assertProcesses } from "../../config/process-settings.js";
import { assertRecording } from "../../config/recording-settings.js";
import type { Settings } from "../../config/settings.js";
import { importPino, importServer } from "../session/deferred-parts.js";
import { noteUnhandled } from "../../support/event-loop.js";
import type { Logger } from "../../support/log.js";
import type { Metrics } from "../../support/metrics.js";
import { nodePath, type RunFault } from "../../support/run-fault.js";
import { openRecorded } from "../processes/recordings.js";
import { Member } from "../processes/member.js";
import { examples, type Runner } from "../session/command.js";
import { logOutput, type LogOutput } from "../session/log-output.js";
import { requireGraphs } from "../session/open.js";
import {
  addStorageOptions,
  bytesText,
  type ListenFlags,
  listenOptions,
  listenSettings,
  settingOption,
  settingsOfFlags,
} from "../session/options.js";
import { faultLocation } from "../session/report-error.js";
import { loadServableSettings, type Session } from "../session/session.js";
import { Closers, listenForStop, type StopListener } from "../session/stop.js";
import { ProcessWatch } from "../session/watchdog.js";

export function startCommand(command: Command, run: Runner): void {
  serverOptions(command)
    .addOption(listenOptions.corsOrigin())
    .addOption(listenOptions.compat())
    .addOption(settingOption("--body-limit <bytes>", "body_limit"))
    .addOption(settingOption("--role <role>", "role").choices(["all", "api", "worker"]))
    .addHelpText(
      "after",
      examples(
        "graph-serve start --host 0.0.0.0 -p 8080 --allow-host agents.example.com",
        "graph-serve start --db ./data/threads.db",
        "graph-serve start --run-timeout 600 --body-limit 5mb",
        "graph-serve start --db postgresql://app@127.0.0.1:5432/app --processes 2",
      ),
    )
    .action((graphs, options) => run(command, async (session) => start(session, graphs, options)));
}

/** `worker`: executes queued runs; serves only health and metrics. */
export function workerCommand(command: Command, run: Runner): void {
  serverOptions(command)
    .addOption(settingOption("--max-concurrent-runs <n>", "max_concurrent_runs"))
    .addHelpText(
      "after",
      examples("graph-serve worker", "graph-serve worker --max-concurrent-runs 20 -p 2025"),
    )
    .action((graphs, options) =>
      run(command, async (session) => start(session, graphs, { ...options, role: "worker" })),
    );
}

/** Flags of the commands that execute queued runs. */
const serverOptions = (command: Command) =>
  addStorageOptions(
    command
      .argument(
        "[graph...]",
        "files such as ./graph.ts:graph, or keys of the configuration; the first is the default",
      )
      .addOption(listenOptions.port())
      .addOption(listenOptions.host()),
  )
    .addOption(listenOptions.allowHost())
    .addOption(settingOption("--processes <n>", "processes"))
    .addOption(settingOption("--shutdown-grace <seconds>", "shutdown_grace_seconds"))
    .addOption(settingOption("--run-timeout <seconds>", "run_timeout_seconds"));

interface StartFlags extends ListenFlags {
  shutdownGrace?: string;
  runTimeout?: string;
  bodyLimit?: string;
  role?: string;
  processes?: string;
  maxConcurrentRuns?: string;
}

const UNCAUGHT = "uncaught exception";
const FAULT_EXIT = 70;

/** `start`: serves in production until stopped by a signal. */
async function start(session: Session, graphs: readonly string[], flags: StartFlags): Promise<number> {
  const log = logOutput(session.io);
  try {
    return await serve(session, { graphs, flags, log });
  } finally {
    log.close();
  }
}

interface Serving {
  graphs: readonly string[];
  flags: StartFlags;
  log: LogOutput;
}

async function serve(session: Session, { graphs, flags, log }: Serving): Promise<number> {
  const member = await Member.join(session.io);
  const warnings: string[] = [];
  const notes: string[] = [];
  const config = await loadServableSettings(session, {
    graphs,
    settings: settingsOfFlags(startSettings(flags)),
    warn: (message) => warnings.push(message),
    note: (message) => notes.push(message),
  });
  const { settings } = config;
  assertProcesses(settings);
  assertRecording(settings);
  const { pino, stdTimeFunctions } = await importPino();
  const serializers = { fault: (fault: RunFault | undefined) => placeFields(fault, session.io.cwd) };
  const base = member && { process: member.seat.number };
  const isoTime = settings.log_time_format === "iso" && { timestamp: stdTimeFunctions.isoTime };
  const logger = pino({ ...logFormat(settings), ...isoTime, base, serializers }, log);
  warnIfPublic(settings, (message) => warnings.push(message));
  const stop = listenForStop(session.io, settings.shutdown_grace_seconds);
  // The primary has logged them.
  if (member) warnings.length = notes.length = 0;
  for (const message of notes) logger.info({}, message);
  if (settings.processes === 1 || member)
    return serveProcess(session, { config, logger, warnings, stop, member });
  requireGraphs(settings);
  for (const warning of warnings) logger.warn({}, warning);
  const { runProcesses } = await import("../processes/primary.js");
  return runProcesses({ settings, logger, stop });
}

/** pino's options for the settings of the log. */
const logFormat = ({ log_level, log_level_format }: Settings) => ({
  level: log_level,
  ...(log_level_format === "word" && { formatters: { level: (level: string) => ({ level }) } }),
});

interface ServingProcess {
  config: LoadedConfig;
  logger: Logger;
  warnings: readonly string[];
  stop: StopListener;
  member: Member | undefined;
}

/** Serves in this process, which is the only one or one of several. */
async function serveProcess(
  session: Session,
  { config, logger, warnings, stop, member }: ServingProcess,
): Promise<number> {
  const { settings } = config;
  member?.listen((reason) => stop.stop(reason));
  const closers = new Closers();
  const watch = new ProcessWatch(session.io);
  closers.add(() => watch.close());
  let reason: string;
  try {
    const observers: { logger: Logger; metrics?: Metrics } = { logger };
    const rejection = (error: unknown) => noteUnhandled(error, observers);
    const exception = (error: unknown) => {
      rejection(error);
      stop.stop(UNCAUGHT);
    };
    const exit = (err: unknown) => logger.error({ err }, "a graph tried to exit the process");
    session.unhandled = { rejection, exception, exit };
    session.longLoad = (message) => logger.warn({}, message);
    // Start before the service opens, because opening it starts recovered runs.
    await watch.begin(member ? member.watchSettings(settings) : settings, { observers, format: "json" });
    member?.watched(watch.healthUrl);
    void stop.stopped.then(() => watch.endWithin(stop.limitSeconds));
    const { startServer } = await importServer();
    const service = await openRecorded(session, { config, logger, closers });
    observers.metrics = service.metrics;
    member?.shareMetrics(service.metrics);
    for (const warning of [...warnings, ...service.notices]) logger.warn({}, warning);
    const { host, port } = settings;
    const at = { host, port: member?.seat.port ?? port };
    const server = await startServer(service, at).catch(async (error: unknown) => {
      throw await (await import("../dev/dev-server.js")).withPortHolder(error, at);
    });
    closers.add(() => server.close());
    const { scheme, location } = service.storage;
    const health = member ? undefined : watch.healthUrl;
    logger.info(
      {
        url: server.url,
        ...(health !== undefined && { health }),
        ...(server.metricsUrl !== undefined && { metrics: server.metricsUrl }),
        storage: { scheme, location },
        graphs: Object.keys(settings.graphs),
        compat: settings.compat,
        ...(settings.queue !== "none" && { role: settings.role }),
      },
      "listening",
    );
    member?.listening(server.url);
    reason = await stop.stopped;
    logger.info({ reason, grace_seconds: settings.shutdown_grace_seconds }, "stopping");
  } finally {
    await closers.close();
  }
  logger.info({}, "stopped");
  if (reason === UNCAUGHT) return FAULT_EXIT;
  stop.done();
  return 0;
}

/** Node and location of a run's error for the log; the error and its stack are logged as `err`. */
function placeFields(fault: RunFault | undefined, cwd: string): object | undefined {
  return fault && { node: nodePath(fault), at: faultLocation(fault, cwd) };
}

function startSettings(flags: StartFlags) {
  return {
    ...listenSettings(flags),
    shutdown_grace_seconds: flags.shutdownGrace,
    run_timeout_seconds: flags.runTimeout,
    body_limit: flags.bodyLimit === undefined ? undefined : bytesText(flags.bodyLimit),
    role: flags.role,
    processes: flags.processes,
    max_concurrent_runs: flags.maxConcurrentRuns,
  };
}

/** Warns if other machines can reach the server and it has no authentication. */
export function warnIfPublic(
  { host, api_keys, auth, http_app }: Pick<Settings, "host" | "api_keys" | "auth" | "http_app">,
  warn: (message: string) => void,
): void {
  if (isLoopback(host) || api_keys !== undefined || auth !== undefined) return;
  const unless = http_app === undefined ? "" : ` (unless ${http_app} does this)`;
  warn(
    `the server is reachable from other machines on ${host} without authentication${unless}: set api_keys or auth, or use an authenticating proxy`,
  );
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "::1" || host.startsWith("127.");
}
