import type { Command } from "@commander-js/extra-typings";
import { Option } from "../session/commander.js";
import type { SchemaPart, SchemaState } from "../../service/migration.js";
import { examples, type Runner } from "../session/command.js";
import {
  configuredStorage,
  type CopyFlags,
  exitCodeOf,
  printReport,
  ProgressView,
  migrationSides,
  withGraph,
} from "../migrate/sides.js";
import { prepareProcess, storageConfig } from "../session/open.js";
import { addStorageOptions, type StorageFlags } from "../session/options.js";
import type { Session } from "../session/session.js";
import { abortOnStop, SIGNAL_EXITS } from "../session/stop.js";
import { printTable } from "../terminal/table.js";

const side = (name: "from" | "to", what: string) => ({
  uri: () => new Option(`--${name} <uri>`, `connection string of ${what} (default the configured storage)`),
  scheme: () =>
    new Option(
      `--${name}-scheme <scheme>`,
      `scheme of --${name}, if the URI does not contain it, such as a module`,
    ),
  options: () =>
    new Option(`--${name}-options <json>`, `checkpointer_options of --${name}, such as '{"schema":"x"}'`),
});
const from = side("from", "the source storage");
const to = side("to", "the target storage");

export function migrateCommand(migrate: Command, run: Runner): void {
  migrate.addHelpText("after", examples("graph-serve migrate status"));
  addStorageOptions(
    migrate
      .command("status")
      .description("Show the schema versions of a storage; exit code 1 if migrations are pending."),
  )
    .addHelpText("after", examples("graph-serve migrate status", "graph-serve migrate status --json"))
    .action((flags, command) => run(command, async (session) => migrateStatus(session, flags)));
  addStorageOptions(
    migrate
      .command("up")
      .description(
        "Create missing tables and migrate a storage to this release; start does this automatically.",
      ),
  )
    .addHelpText("after", examples("graph-serve migrate up"))
    .action((flags, command) => run(command, async (session) => migrateUp(session, flags)));
  migrate
    .command("copy")
    .description("Copy all threads, runs, checkpoints, long-term memory and assistants to another storage.")
    .addOption(from.uri())
    .addOption(from.scheme())
    .addOption(from.options())
    .addOption(to.uri())
    .addOption(to.scheme())
    .addOption(to.options())
    .option(
      "--graph <id>",
      "graph of the threads, for --from sqlite-saver://FILE (default the only configured graph)",
    )
    .option("--overwrite", "replace threads in the target that have the same id but different content")
    .addHelpText(
      "after",
      examples(
        "graph-serve migrate copy --from ./.graph-serve/dev.db --to ./threads.db",
        "graph-serve migrate copy --to postgresql://user:password@host:5432/database",
        "graph-serve migrate copy --from sqlite-saver://./checkpoints.db --graph agent --to ./threads.db",
      ),
    )
    .action((flags, command) => run(command, async (session) => migrateCopy(session, flags)));
}

const BEHIND_EXIT = 1;

/** `migrate status`: shows the schema versions of the storage, and what `up` would change. */
async function migrateStatus(session: Session, flags: StorageFlags): Promise<number> {
  const config = await storageConfig(session, flags);
  prepareProcess(config);
  const { storageSchema } = await import("../../service/migration.js");
  const place = configuredStorage(config);
  const state = await storageSchema(place);
  printState(session, place.checkpointer_scheme, state);
  return state.parts.every((part) => stateOf(part) === "current") ? 0 : BEHIND_EXIT;
}

/** `migrate up`: applies the migrations that a server applies on startup. */
async function migrateUp(session: Session, flags: StorageFlags): Promise<number> {
  const config = await storageConfig(session, flags);
  prepareProcess(config);
  const { migrateUp: bringUp, storageSchema } = await import("../../service/migration.js");
  const place = configuredStorage(config);
  const before = await storageSchema(place);
  const notices = await bringUp(place);
  const after = await storageSchema(place);
  printState(session, place.checkpointer_scheme, after, before);
  for (const notice of notices) session.print.note(notice);
  return 0;
}

/** `migrate copy`: copies everything from one storage to another. */
async function migrateCopy(session: Session, flags: CopyFlags): Promise<number> {
  const { io, print } = session;
  const config = await storageConfig(session, {});
  const sides = migrationSides(flags, configuredStorage(config), io.cwd);
  const from = withGraph(sides.from, flags.graph, Object.keys(config.settings.graphs));
  const { to } = sides;
  prepareProcess(config);
  const { migrateStorage } = await import("../../service/migration.js");
  const view = new ProgressView(print);
  const stop = abortOnStop(io);
  const { signal } = stop;
  try {
    const report = await migrateStorage({
      from,
      to,
      overwrite: flags.overwrite ?? false,
      signal,
      onProgress: (progress) => view.show(progress),
    });
    view.end();
    printReport(print, report);
    return exitCodeOf(report);
  } catch (error) {
    view.end();
    if (!signal.aborted) throw error;
    print.note("stopped; run the same command again to continue");
    return SIGNAL_EXITS[String(signal.reason)] ?? BEHIND_EXIT;
  } finally {
    stop.dispose();
  }
}

type PartState = "current" | "missing" | "behind" | "newer";

function stateOf({ version, wanted }: SchemaPart): PartState {
  if (version === wanted) return "current";
  if (version === 0) return "missing";
  return version < wanted ? "behind" : "newer";
}

const TEXTS: Readonly<Record<PartState, string>> = {
  current: "none",
  missing: "create",
  behind: "migrate",
  newer: "fail: written by a later release",
};

function printState(
  { print }: Session,
  scheme: string,
  { location, parts }: SchemaState,
  before?: SchemaState,
): void {
  const versionBefore = (name: string) => before?.parts.find((part) => part.name === name)?.version;
  const items = parts.map((part) => ({ ...part, state: stateOf(part) }));
  if (print.isJson) {
    const shown = items.map((item) => (before ? { ...item, before: versionBefore(item.name) ?? 0 } : item));
    print.json({ scheme, location: location ?? null, items: shown, next: null });
    return;
  }
  print.note(`${scheme}${location === undefined ? "" : ` ${location}`}`);
  if (items.length === 0) return print.note("this storage has no schema versions: nothing to migrate");
  printTable(
    print,
    ["PART", "VERSION", "REQUIRED", before ? "BEFORE" : "ACTION"],
    items.map(({ name, version, wanted, state }) => [
      name,
      version === 0 ? "missing" : String(version),
      String(wanted),
      before ? String(versionBefore(name) ?? 0) : TEXTS[state],
    ]),
  );
  if (before) return;
  if (items.some(({ state }) => state === "newer")) print.note("upgrade graph-serve");
  else if (items.some(({ state }) => state !== "current"))
    print.note("apply: graph-serve migrate up; a server also applies them when it starts");
}
