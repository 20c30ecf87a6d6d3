import type { SchemaPart, SchemaState } from "../../migration.js";
import type { StorageFlags } from "../commands/listen-options.js";
import { ProgressView } from "../migrate/progress.js";
import { exitCodeOf, printReport } from "../migrate/report.js";
import { configuredPlace, sidesOf, type CopyFlags } from "../migrate/sides.js";
import { prepareProcess } from "../open.js";
import { storageConfig } from "../open-storage.js";
import { abortOnStop, SIGNAL_EXITS } from "../stop.js";
import type { Session } from "../session.js";

const BEHIND_EXIT = 1;

/** `migrate status`: what the storage stands at, and what `up` would do. */
export async function migrateStatus(session: Session, flags: StorageFlags): Promise<number> {
  const config = await storageConfig(session, flags);
  prepareProcess(config);
  const { storageSchema } = await import("../../migration.js");
  const place = configuredPlace(config);
  const state = await storageSchema(place);
  await printState(session, place.checkpointer_scheme, state);
  return state.parts.every((part) => stateOf(part) === "current") ? 0 : BEHIND_EXIT;
}

/** `migrate up`: what a server does when it starts, without starting one. */
export async function migrateUp(session: Session, flags: StorageFlags): Promise<number> {
  const config = await storageConfig(session, flags);
  prepareProcess(config);
  const { bringUp, storageSchema } = await import("../../migration.js");
  const place = configuredPlace(config);
  const before = await storageSchema(place);
  await bringUp(place);
  const after = await storageSchema(place);
  await printState(session, place.checkpointer_scheme, after, before);
  return 0;
}

/** `migrate copy`: all that one storage keeps, into another. */
export async function migrateCopy(session: Session, flags: CopyFlags): Promise<number> {
  const { io, print } = session;
  const config = await storageConfig(session, {});
  const { from, to } = sidesOf(flags, configuredPlace(config), io.cwd);
  prepareProcess(config);
  const { migrateStorage } = await import("../../migration.js");
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
    await printReport(print, report);
    return exitCodeOf(report);
  } catch (error) {
    view.end();
    if (!signal.aborted) throw error;
    print.note("stopped; the same command goes on where it was");
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
  current: "nothing",
  missing: "make it",
  behind: "bring it up to this release",
  newer: "refuse it: a later release wrote it",
};

async function printState(
  { print }: Session,
  scheme: string,
  { location, parts }: SchemaState,
  before?: SchemaState,
): Promise<void> {
  const versionBefore = (name: string) => before?.parts.find((part) => part.name === name)?.version;
  const items = parts.map((part) => ({ ...part, state: stateOf(part) }));
  if (print.isJson) {
    const shown = items.map((item) => (before ? { ...item, before: versionBefore(item.name) ?? 0 } : item));
    print.json({ scheme, location: location ?? null, items: shown, next: null });
    return;
  }
  print.note(`${scheme}${location === undefined ? "" : ` ${location}`}`);
  if (items.length === 0) return print.note("this storage has no versions: there is nothing to do");
  await print.table(
    ["PART", "VERSION", "OF THIS RELEASE", before ? "BEFORE" : "UP WOULD"],
    items.map(({ name, version, wanted, state }) => [
      name,
      version === 0 ? "not there" : String(version),
      String(wanted),
      before ? String(versionBefore(name) ?? 0) : TEXTS[state],
    ]),
  );
  if (before) return;
  if (items.some(({ state }) => state === "newer")) print.note("upgrade graph-serve");
  else if (items.some(({ state }) => state !== "current"))
    print.note("graph-serve migrate up does it, and so does a server that starts");
}
