import type { Command } from "@commander-js/extra-typings";
import { existsSync } from "node:fs";
import { basename, resolve } from "node:path";
import type { LoadedConfig } from "../../config/load.js";
import type { JsonObject } from "../../models/common.js";
import { noteUnhandled } from "../../support/event-loop.js";
import { GraphServeError } from "../../support/errors.js";
import { errorMessage } from "../../support/errors/thrown.js";
import { createRedaction } from "../../testing/cases/redact.js";
import { examples, type Runner } from "../session/command.js";
import { type BannerFacts, bannerLines, listenForKeys, openInBrowser, plainLines } from "../dev/banner.js";
import { DevServer } from "../dev/dev-server.js";
import { FOUND, isUnwritten, writeFoundGraphs } from "../dev/found-graphs.js";
import type { DevHelpers } from "../dev/studio-helpers.js";
import { keptToken } from "../dev/studio-token.js";
import { FileWatcher } from "../dev/watch.js";
import { TRANSCRIPTS } from "../session/open.js";
import {
  addStorageOptions,
  type ListenFlags,
  listenOptions,
  listenSettings,
  settingsOfFlags,
  type StorageFlags,
} from "../session/options.js";
import { errorText, originText, shortPath } from "../session/report-error.js";
import { inputFlag } from "../session/graph-keys.js";
import type { Session } from "../session/session.js";
import { Closers, listenForStop, type StopListener } from "../session/stop.js";
import { ProcessWatch } from "../session/watchdog.js";
import { isLoopback, warnIfPublic } from "./start.js";

export function devCommand(command: Command, run: Runner): void {
  addStorageOptions(
    command
      .argument(
        "[graph...]",
        "files such as ./graph.ts:graph, or keys of the configuration; the first is the default (without a configuration: found in ./graph.ts, ./src/agent.ts and src/**/graph.ts)",
      )
      .addOption(listenOptions.port())
      .addOption(listenOptions.host())
      .option("--no-reload", "do not watch files")
      .option(
        "--record [dir]",
        "record model and tool responses, one file per run (default .graph-serve/transcripts)",
      )
      .option(
        "--inspect [address]",
        "open a debugger in the process that runs the graphs: a port, or host:port (default 127.0.0.1:9229)",
      )
      .option("--no-studio", "do not serve the Studio")
      .option("--open", "open the Studio in a browser, or the API documentation if there is no Studio"),
  )
    .addOption(listenOptions.corsOrigin())
    .addOption(listenOptions.allowHost())
    .addOption(listenOptions.compat())
    .addHelpText(
      "after",
      examples(
        "graph-serve dev",
        "graph-serve dev ./graph.ts:graph -p 3000",
        "graph-serve dev --db memory",
        "graph-serve dev --record",
        "graph-serve dev ./graph.ts --inspect=9230",
      ),
    )
    .action((graphs, options) => run(command, async (session) => dev(session, graphs, options)));
}

interface DevFlags extends ListenFlags {
  reload: boolean;
  studio: boolean;
  open?: boolean;
  /** Address of the debugger; true for the default address. */
  inspect?: string | true;
  /** Folder of the recordings; true for the default folder. */
  record?: string | true;
}

/** `dev`: serves locally until stopped by a signal. */
async function dev(session: Session, graphs: readonly string[], flags: DevFlags): Promise<number> {
  const start = performance.now();
  const closers = new Closers();
  const settings = settingsOfFlags(listenSettings(flags));
  const inspector = flags.inspect === undefined ? undefined : await inspectProcess(session, flags.inspect);
  const helpers = flags.studio ? await helpersOf(session, flags, () => server) : undefined;
  const watch = new ProcessWatch(session.io);
  closers.add(() => watch.close());
  closers.add(() => inspector?.close());
  const beforeGraphs = async (config: LoadedConfig) => {
    if (helpers) helpers.token = await keptToken(config.baseDir, (message) => session.print.warn(message));
    await trackLibraryCopies(config, flags);
  };
  const server: DevServer = await DevServer.open(session, {
    ...{ graphs, settings, place: placeOf(flags), helpers, watch, beforeGraphs },
  });
  const stop = listenForStop(session.io, server.config.settings.shutdown_grace_seconds);
  closers.add(() => server.close());
  void stop.stopped.then(() => watch.endWithin(stop.limitSeconds));
  try {
    const note = (error: unknown) => noteUnhandled(error, server.service);
    session.unhandled = { rejection: note, exception: note };
    const reloader = new Reloader(session, server, helpers);
    closers.add(() => reloader.close());
    if (flags.reload) await reloader.watch(performance.timeOrigin + start);
    if (flags.record !== undefined) closers.add(await recordRuns(session, server, flags.record));
    const target = graphs[0] ?? foundTarget(server.config);
    const ms = Math.round(performance.now() - start);
    const hasKeys = await announce(session, server, { target, ms, inspector: inspector?.url });
    if (hasKeys) closers.add(listenForKeys(session.io, keyActions(session, server, reloader, stop)));
    if (session.flags.yes && isUnwritten(server.config)) await writeFoundGraphs(session, server.config);
    if (flags.open) openInBrowser(server.studio ?? `${server.url}/docs`);
    await stop.stopped;
  } finally {
    await closers.close();
  }
  stop.done();
  return 0;
}

/** Opens the debugger before graphs are loaded, so that breakpoints outside of functions are hit. */
async function inspectProcess({ print }: Session, value: string | true) {
  const { inspectAddress, openDebugger } = await import("../dev/debugger.js");
  const address = inspectAddress(value);
  if (!isLoopback(address.host))
    print.warn(
      `the debugger listens on ${address.host}: every machine that reaches it can run code in this process`,
    );
  return openDebugger(address);
}

const placeOf = ({ db, checkpointerScheme, checkpointerUri }: DevFlags): StorageFlags => ({
  db,
  checkpointerScheme,
  checkpointerUri,
});

/** Helper routes for this process's Studio only. */
async function helpersOf(
  session: Session,
  { record, reload: isWatching }: DevFlags,
  server: () => DevServer,
): Promise<DevHelpers> {
  const { DevHelpers } = await import("../dev/studio-helpers.js");
  return new DevHelpers(session, () => {
    const { service, files, config } = server();
    const { baseDir, env, settings } = config;
    const variables = { ...session.io.env, ...env };
    const transcripts = transcriptsOf(baseDir, record);
    const { where, folder, redact = [] } = settings.recording ?? {};
    const recordsInStorage = where === "storage";
    const recordings = [transcripts, ...(folder === undefined ? [] : [resolve(baseDir, folder)])];
    const recorded = { transcripts, recordings, recordsInStorage, redact };
    return { service, files, isWatching, baseDir, env: variables, ...recorded };
  });
}

/** Folder of the recordings. */
const transcriptsOf = (baseDir: string, record: DevFlags["record"] = true): string =>
  resolve(baseDir, record === true ? TRANSCRIPTS : record);

/** Prints the banner; returns whether keyboard shortcuts are active. */
async function announce(
  session: Session,
  server: DevServer,
  { target, ms, inspector }: Pick<BannerFacts, "target" | "ms" | "inspector">,
): Promise<boolean> {
  const { io, print } = session;
  const { storage } = server.service;
  const location =
    storage.location === undefined ? undefined : shortPath(storage.location, server.config.baseDir);
  const hasKeys = print.isWatched && io.stdin.isTTY === true;
  const { compat } = server.config.settings;
  const moved = await server.moved();
  const facts: BannerFacts = {
    ms,
    url: server.url,
    ...(moved !== undefined && { moved }),
    graphs: await server.service.graphs(),
    target,
    input: inputFlag(await inputSchemaOf(server), "hello"),
    storage: {
      scheme: storage.scheme,
      durable: storage.durable,
      ...(location !== undefined && { location }),
    },
    ...(compat !== "specification" && {
      compat: { name: compat, origin: originText(server.config.origins.compat, io.cwd) },
    }),
    studio: server.studio,
    inspector,
    isUnwritten: isUnwritten(server.config),
    hasKeys,
  };
  warnIfPublic(server.config.settings, (message) => print.warn(message));
  const lines = print.isWatched ? bannerLines(facts, print.noteColors) : plainLines(facts);
  for (const line of lines) print.note(line);
  if (facts.isUnwritten && !hasKeys && !session.flags.yes)
    print.note("graph-serve dev --yes writes these graphs to graph-server.config.json");
  const faults = [...server.service.graphFaults().values()];
  for (const fault of faults) showFault(session, fault);
  if (faults.length > 0) print.note(stillServed(server));
  if (print.flags.json)
    print.json({
      url: facts.url,
      ...(moved !== undefined && { moved }),
      ...(facts.studio !== undefined && { studio: facts.studio }),
      ...(inspector !== undefined && { inspector }),
      pid: process.pid,
      graphs: facts.graphs,
      storage: facts.storage,
    });
  return hasKeys;
}

/** Recording and replaying patch every copy of the library, so copies must be tracked before graphs are loaded. */
async function trackLibraryCopies(
  { baseDir, settings: { recording } }: LoadedConfig,
  { record }: DevFlags,
): Promise<void> {
  if (!recording && record === undefined && !existsSync(transcriptsOf(baseDir))) return;
  const { onLibraryCopies } = await import("../../testing/recording/patch.js");
  onLibraryCopies();
}

/** Null if the default graph declares no input schema. */
async function inputSchemaOf({ service: { assistants } }: DevServer): Promise<JsonObject | null> {
  const [first] = (await assistants.search({ limit: 1 })).items;
  const schemas = await assistants.schemas(first?.graph_id ?? "").catch(() => undefined);
  return schemas?.input_schema ?? null;
}

/** Starts recording model and tool responses; returns a function that stops it. */
async function recordRuns(
  { io, print }: Session,
  { config }: DevServer,
  to: string | true,
): Promise<() => Promise<void>> {
  const { folderWriter, Transcripts } = await import("../../testing/recording/recorder.js");
  const folder = transcriptsOf(config.baseDir, to);
  const transcripts = await Transcripts.open({
    write: folderWriter(folder),
    redact: createRedaction({ ...io.env, ...config.env }),
    onError: (error) => print.warn(`a call could not be recorded: ${errorMessage(error)}`),
  });
  print.note(`recording models and tools in ${shortPath(folder, io.cwd)}`);
  return () => transcripts.close();
}

/** The first graph that was found, for commands that need it named. */
const foundTarget = (config: LoadedConfig): string | undefined =>
  config.origins.graphs.detail === FOUND ? Object.values(config.settings.graphs)[0] : undefined;

function keyActions(session: Session, server: DevServer, reloader: Reloader, stop: StopListener) {
  return {
    write: () =>
      void (
        isUnwritten(server.config) &&
        writeFoundGraphs(session, server.config).catch((error: unknown) => showFault(session, error))
      ),
    reload: () => void reloader.reload(server.service.watchedFiles().slice(0, 1)),
    openDocs: () => openInBrowser(`${server.url}/docs`),
    openStudio: () => server.studio !== undefined && openInBrowser(server.studio),
    quit: () => stop.stop("q"),
  };
}

function showFault({ io, print }: Session, error: unknown): void {
  io.stderr.write(errorText(error, { colors: print.noteColors, io, verbose: print.flags.verbose }));
}

/** Reloads changed files, one change at a time, and reports it. */
class Reloader {
  readonly #session: Session;
  readonly #server: DevServer;
  readonly #helpers: DevHelpers | undefined;
  readonly #watcher: FileWatcher;
  /** Error messages of the last load; each error is shown only once. */
  #known: ReadonlySet<string>;
  #isWatching = false;
  #work = Promise.resolve();

  constructor(session: Session, server: DevServer, helpers: DevHelpers | undefined) {
    this.#session = session;
    this.#server = server;
    this.#helpers = helpers;
    this.#known = messagesOf(server.service.graphFaults().values());
    this.#watcher = new FileWatcher({
      onChange: (files) => void (this.#isWatching && this.reload(files)),
      warn: (message) => session.print.warn(message),
    });
  }

  /** @param begun when `dev` began to read the configuration, in milliseconds since 1970 */
  async watch(begun: number): Promise<void> {
    this.#isWatching = true;
    const { files, config } = this.#server;
    await this.#watcher.watch(files, { files: config.files, at: begun });
  }

  async close(): Promise<void> {
    this.#isWatching = false;
    await this.#work;
    await this.#watcher.close();
  }

  /** Reloads these files after pending reloads. */
  reload(files: readonly string[]): Promise<void> {
    this.#work = this.#work.then(() => this.#reload(files));
    return this.#work;
  }

  async #reload(files: readonly string[]): Promise<void> {
    const start = performance.now();
    const restart = this.#server.needsRestart(files);
    const { url } = this.#server;
    try {
      const faults = await (restart ? this.#server.restart() : this.#server.reload());
      await this.#helpers?.noteLoad(faults);
      if (!this.#show(faults.values())) {
        const names = files.map((file) => basename(file)).join(", ");
        const reloaded = `reloaded ${names} in ${Math.round(performance.now() - start)} ms`;
        const moved = this.#server.url === url ? [] : [`the server moved from ${url} to ${this.#server.url}`];
        this.#session.print.note([reloaded, ...moved, ...stillFaulty(faults.keys())].join("; "));
      }
    } catch (error) {
      if (error instanceof GraphServeError) await this.#helpers?.noteLoad(new Map([["", error]]));
      this.#show([error]);
    }
    if (this.#isWatching) await this.#watcher.watch(this.#server.files);
  }

  /** Shows new errors; an error that was already shown is not repeated. Returns false if there are no new errors. */
  #show(faults: Iterable<unknown>): boolean {
    const all = [...faults];
    const fresh = all.filter((fault) => !this.#known.has(errorMessage(fault)));
    this.#known = messagesOf(all);
    for (const fault of fresh) showFault(this.#session, fault);
    if (fresh.length > 0) this.#session.print.note(stillServed(this.#server));
    return fresh.length > 0;
  }
}

const messagesOf = (faults: Iterable<unknown>): ReadonlySet<string> =>
  new Set([...faults].map((fault) => errorMessage(fault)));

const stillFaulty = (ids: Iterable<string>): string[] =>
  [...ids].map((id) => `graph ${JSON.stringify(id)} still does not load`);

/** Describes what is still served after a failed reload. */
function stillServed({ service, url }: DevServer): string {
  return service.graphFaults().size === 0
    ? `       the last working graphs are still served at ${url}`
    : "       threads can still be read; saving a file reloads it";
}
