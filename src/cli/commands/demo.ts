import type { Command } from "@commander-js/extra-typings";
import type { Client } from "../../client/client.js";
import { RunSoFar } from "../../client/run-events.js";
import { reportedTokens } from "../../models/token-counts.js";
import { GraphServeError } from "../../support/errors.js";
import { newId } from "../../support/ids.js";
import { packageFile } from "../../support/own-package.js";
import { listenAt } from "../dev/dev-server.js";
import { LiveView } from "../run/live-view.js";
import { runReport, type RunReport } from "../run/outcome.js";
import { messageInput } from "../run/request.js";
import { examples, type Runner } from "../session/command.js";
import { createConsoleLogger, openConfigured } from "../session/open.js";
import { settingsOfFlags, wholeNumber } from "../session/options.js";
import { errorText } from "../session/report-error.js";
import { loadServableSettings, type Session } from "../session/session.js";
import { Closers, listenForStop } from "../session/stop.js";

export function demoCommand(command: Command, run: Runner): void {
  command
    .option("-p, --port <port>", "port (default 2024, or the next free port)")
    .option("--ci", "exit after the run: with code 0, or 1 if anything failed")
    .addHelpText("after", examples("graph-serve demo", "graph-serve demo --ci"))
    .action((options) => run(command, async (session) => demo(session, options)));
}

interface DemoFlags {
  port?: string;
  ci?: boolean;
}

/** This template needs no packages that graph-serve does not have. */
const TEMPLATE = packageFile("templates/chat");
const HOST = "127.0.0.1";
const MESSAGE = "Hello from the demo";
const MOST_PORT = 65_535;
const FAILED_EXIT = 1;
const GRACE_SECONDS = 1;

/** `demo`: serves a template in memory, streams one run, and keeps serving until stopped by a signal. */
async function demo(session: Session, flags: DemoFlags): Promise<number> {
  const { io, print } = session;
  const port = flags.port === undefined ? undefined : wholeNumber("--port", flags.port, 0, MOST_PORT);
  const stop = listenForStop(io, GRACE_SECONDS);
  const stopped = new AbortController();
  void stop.stopped.then(() => stopped.abort());
  const closers = new Closers();
  let exitCode = 0;
  try {
    const url = await serveTemplate(session, port, closers);
    await showDemo(session, url, flags, stopped.signal);
    if (!flags.ci) await stop.stopped;
  } catch (error) {
    if (!stopped.signal.aborted || flags.ci) {
      exitCode = FAILED_EXIT;
      io.stderr.write(errorText(error, { colors: print.noteColors, io, verbose: print.flags.verbose }));
    }
  } finally {
    await closers.close();
  }
  stop.done();
  return exitCode;
}

/** @returns the URL of the server */
async function serveTemplate(session: Session, port: number | undefined, closers: Closers): Promise<string> {
  const settings = {
    ...settingsOfFlags({ host: HOST, checkpointer_scheme: "memory", log_level: "warn" }),
    ...(port !== undefined && { port }),
  };
  const config = await loadServableSettings(ofTemplate(session), { settings });
  const logger = createConsoleLogger(session.print, config.settings.log_level);
  const service = await openConfigured(config, logger, { mode: "serve" });
  closers.add(() => service.close(GRACE_SECONDS));
  const { host, port: wanted } = config.settings;
  const mayMove = config.origins.port.kind === "default";
  const server = await listenAt(service, { host, port: wanted, mayMove, studio: true });
  closers.add(() => server.close(GRACE_SECONDS));
  return server.url;
}

/** The session in the template's folder; the user's configuration and settings in variables do not apply. */
function ofTemplate(session: Session): Session {
  const { config: _, env: _env, ...flags } = session.flags;
  const env = Object.entries(session.io.env).filter(([name]) => !name.startsWith("GRAPH_SERVE_"));
  return { ...session, flags, io: { ...session.io, cwd: TEMPLATE, env: Object.fromEntries(env) } };
}

/**
 * Streams one run and prints the addresses.
 * @throws GraphServeError if the run fails, or the Studio is not served
 */
async function showDemo(
  { print }: Session,
  url: string,
  { ci }: DemoFlags,
  signal: AbortSignal,
): Promise<void> {
  const { remoteClient } = await import("../../client/remote.js");
  const client = await remoteClient({ url });
  const { bold, cyan, dim } = print.noteColors;
  const isShown = !print.isJson;
  if (isShown) print.note(`\n  ${bold("demo")}  the template "chat", served in memory at ${cyan(url)}\n`);
  const start = performance.now();
  const report = await runOnce(client, isShown ? new LiveView(print, { isResult: true }) : undefined, signal);
  const ms = Math.round(performance.now() - start);
  const studio = `${url}/studio/#/threads/${report.thread_id}`;
  await assertServed(`${url}/studio/`);
  if (print.isJson) print.json({ url, studio, pid: process.pid, ...report });
  const tokens = reportedTokens(report.usage).total_tokens;
  print.note(`  ${report.status} in ${ms} ms, ${tokens} tokens\n`);
  print.note(`  ${dim("Studio")}  ${cyan(studio)}`);
  print.note(`  ${dim("API   ")}  ${url}/docs`);
  if (ci) return;
  print.note(`  ${dim("next  ")}  graph-serve run --url ${url} --message "hello"`);
  print.note(`  ${dim("      ")}  graph-serve init my-agent`);
  print.note(`\n  ${dim("Ctrl-C stops the demo.")}`);
}

/** @throws GraphServeError if the run does not succeed, or streams no answer (`run_failed`) */
async function runOnce(client: Client, view: LiveView | undefined, signal: AbortSignal): Promise<RunReport> {
  const threadId = newId();
  const run = new RunSoFar();
  view?.showInput(MESSAGE);
  const request = {
    assistant_id: await client.defaultAssistant(),
    input: messageInput(MESSAGE),
    stream_mode: ["values" as const, "messages-tuple" as const, "tasks" as const],
    if_not_exists: "create" as const,
  };
  let parts = 0;
  try {
    for await (const event of client.runs.stream(threadId, request, signal)) {
      run.take(event);
      if (event.event === "messages") parts += 1;
      view?.show(event);
    }
  } finally {
    view?.end();
  }
  const report = runReport(threadId, run);
  if (report.status !== "success" || parts === 0)
    throw new GraphServeError(
      "run_failed",
      report.error?.message ?? "the run of the demo streamed no answer",
    );
  return report;
}

/** @throws GraphServeError if the page is not served (`server_unreachable`) */
async function assertServed(page: string): Promise<void> {
  const { ok, status } = await fetch(page);
  if (!ok) throw new GraphServeError("server_unreachable", `${page} answered ${status}`);
}
