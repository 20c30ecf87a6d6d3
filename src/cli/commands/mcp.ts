import type { Command } from "@commander-js/extra-typings";
import { Writable } from "node:stream";
import { withStorageOfFlags } from "../../config/local-settings.js";
import { noteUnhandled } from "../../support/event-loop.js";
import { loadMcpSdk } from "../../support/mcp-sdk.js";
import { examples, type Runner } from "../session/command.js";
import { createConsoleLogger, openConfigured, requireGraphs } from "../session/open.js";
import {
  addStorageOptions,
  impliedScheme,
  settingsOfFlags,
  type StorageFlags,
  storageSettings,
} from "../session/options.js";
import { loadSettings, type Session } from "../session/session.js";
import { Closers, listenForStop } from "../session/stop.js";

export function mcpCommand(command: Command, run: Runner): void {
  addStorageOptions(
    command.argument(
      "[graph...]",
      "files such as ./graph.ts:graph, or keys of the configuration; the first is the default",
    ),
  )
    .addHelpText(
      "after",
      examples(
        "graph-serve mcp ./graph.ts:graph",
        "graph-serve mcp --cwd /home/ada/my-agent",
        "graph-serve mcp --db ./mcp.db",
      ),
    )
    .action((graphs, options) => run(command, async (session) => mcp(session, graphs, options)));
}

/** `mcp`: serves one client over stdin and stdout until it disconnects. All other output goes to stderr. */
async function mcp(session: Session, graphs: readonly string[], flags: StorageFlags): Promise<number> {
  const { io, print } = session;
  const settings = settingsOfFlags(storageSettings(impliedScheme(flags)));
  const loaded = await loadSettings(session, { graphs, settings });
  const config = { ...loaded, settings: withStorageOfFlags(loaded.settings, loaded.origins) };
  requireGraphs(config.settings);
  const sdk = loadMcpSdk(config.baseDir);
  const stop = listenForStop(io, config.settings.shutdown_grace_seconds);
  const closers = new Closers();
  try {
    const logger = createConsoleLogger(print, config.settings.log_level);
    const service = await openConfigured(config, logger, { standIns: true, callFactories: true });
    closers.add(() => service.close());
    const note = (error: unknown) => noteUnhandled(error, service);
    session.unhandled = { rejection: note, exception: note };
    for (const notice of service.notices) print.warn(notice);
    for (const fault of service.graphFaults().values()) print.warn(fault.message);
    const { serveStdio } = await import("../../mcp/stdio.js");
    print.note(`serving ${service.graphIds.join(", ")} to a client over stdin and stdout`);
    await Promise.race([
      serveStdio(sdk, service, { input: io.stdin, output: toStdout(session) }),
      stop.stopped,
    ]);
  } finally {
    await closers.close();
  }
  stop.done();
  return 0;
}

/** stdout with back-pressure. */
function toStdout({ io, print }: Session): Writable {
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      io.stdout.write(chunk.toString());
      print.drained().then(() => done(), done);
    },
  });
}
