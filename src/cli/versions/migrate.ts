/** `versions migrate`: applies the migrations of the project to all stored threads. */
import type { ThreadMigration } from "../../models/version.js";
import { ConfigError } from "../../support/errors.js";
import { escapeControl } from "../../view/text.js";
import { type StorageFlags, timeOf } from "../session/options.js";
import type { Session } from "../session/session.js";
import { printJsonList } from "../terminal/json-list.js";
import type { Printer } from "../terminal/print.js";
import { shortVersion, threads, versionsConfig, withStorage } from "./stored-threads.js";

interface MigrateFlags extends StorageFlags {
  dryRun?: boolean;
  graph?: string;
  since?: string;
}

/** Exit code 1 if a thread could not be converted. */
export async function migrateVersions(
  session: Session,
  { dryRun: isDryRun = false, graph: graphId, since, ...flags }: MigrateFlags,
): Promise<number> {
  const { print } = session;
  const config = await versionsConfig(session, { ...flags, graph: graphId });
  if (config.settings.migrations === undefined)
    throw new ConfigError("the project has no migrations", {
      hint: 'name a file that exports them in the configuration: "migrations": "./migrations.ts"; see docs/deploys.md',
    });
  const selection = {
    graphId,
    since: since === undefined ? undefined : timeOf("--since", since),
    isDryRun,
  };
  const counts = { migrated: 0, pending: 0, failed: 0, busy: 0 };
  const work = async function* (all: AsyncIterable<ThreadMigration>) {
    for await (const one of all) {
      counts[one.outcome] += 1;
      yield one;
    }
  };
  await withStorage(
    config,
    async (service) => {
      const list = work(service.versions.migrate(selection));
      if (print.isJson) await printJsonList(print, list);
      else for await (const one of list) printMigration(print, one);
    },
    isDryRun ? "read" : "edit",
  );
  print.note(summary(counts, isDryRun));
  if (counts.busy > 0) print.note("run the command again for the threads with an active run");
  return counts.failed > 0 ? 1 : 0;
}

const WORDS: Record<ThreadMigration["outcome"], string> = {
  migrated: "migrated",
  pending: "would be migrated",
  failed: "fails",
  busy: "has an active run",
};

function printMigration(print: Printer, one: ThreadMigration): void {
  const { thread_id, graph_id, from, to, outcome, error } = one;
  const facts = `${graph_id}  ${shortVersion(from)} -> ${to}`;
  print.data(`${print.colors.bold(thread_id)}  ${print.colors.dim(facts)}  ${WORDS[outcome]}`);
  if (error !== null) print.data(`  ${print.colors.red("fails")}  ${escapeControl(error)}`);
}

function summary(counts: Record<ThreadMigration["outcome"], number>, isDryRun: boolean): string {
  const { migrated, pending, failed, busy } = counts;
  const done = isDryRun ? `${threads(pending)} would be migrated` : `${threads(migrated)} migrated`;
  const others = [
    ...(failed > 0 ? [`${threads(failed)} failed and stay as they are`] : []),
    ...(busy > 0 ? [`${threads(busy)} busy`] : []),
  ];
  return [done, ...others].join("; ");
}
