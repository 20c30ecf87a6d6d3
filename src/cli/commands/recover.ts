import type { Command } from "@commander-js/extra-typings";
import type { LoadedConfig } from "../../config/load.js";
import type { Run } from "../../models/run.js";
import type { UnfinishedRun } from "../../service/service.js";
import { ConfigError } from "../../support/errors.js";
import { examples, type Runner } from "../session/command.js";
import { openStorageOf, storageConfig } from "../session/open.js";
import { addStorageOptions, type StorageFlags } from "../session/options.js";
import type { Session } from "../session/session.js";
import { printTable } from "../terminal/table.js";
import { shownTime } from "../terminal/text.js";

export function recoverCommand(command: Command, run: Runner): void {
  addStorageOptions(
    command.option("--apply", "end the unfinished runs and reset their threads; runs are not resumed"),
  )
    .addHelpText("after", examples("graph-serve recover", "graph-serve recover --apply"))
    .action((options) => run(command, async (session) => recover(session, options)));
}

interface RecoverFlags extends StorageFlags {
  apply?: boolean;
}

/** `recover`: lists the runs that a crashed server left unfinished; with `--apply`, ends them. */
async function recover(session: Session, { apply = false, ...flags }: RecoverFlags): Promise<number> {
  const config = await storageConfig(session, flags);
  if (config.settings.checkpointer_scheme === "memory") {
    throw new ConfigError("scheme memory has no runs to recover", {
      hint: "specify a storage with --db",
    });
  }
  const stale = await staleRuns(config);
  if (apply && stale.length > 0) await settle(config);
  // A database can hold the thread locks of a crashed process for a few more seconds.
  const left = apply && stale.length > 0 ? await staleRuns(config) : stale;
  report(session, stale, { apply, left: left.length });
  return 0;
}

type StaleRun = UnfinishedRun & Pick<Run, "status" | "attempt">;

async function staleRuns(config: LoadedConfig): Promise<StaleRun[]> {
  const service = await openStorageOf(config, "read");
  try {
    const runs = await service.cutOffRuns();
    return await Promise.all(
      runs.map(async (run) => {
        const { status, attempt } = await service.runs.get(run.thread_id, run.run_id);
        return { ...run, status, attempt };
      }),
    );
  } finally {
    await service.close(0);
  }
}

/** Opening the storage as a server does recovers it. */
async function settle(config: LoadedConfig): Promise<void> {
  const service = await openStorageOf(config, "run");
  await service.close(0);
}

function report(
  { print }: Session,
  stale: StaleRun[],
  { apply, left }: { apply: boolean; left: number },
): void {
  if (print.flags.json) {
    print.json({
      items: stale.map(({ owner, ...run }) => ({ ...run, owner: owner ?? null })),
      next: null,
      applied: apply,
    });
    return;
  }
  if (stale.length === 0) {
    print.note("no unfinished runs");
    return;
  }
  printTable(
    print,
    ["RUN", "THREAD", "STATUS", "ATTEMPT", "OWNER", "LAST SEEN"],
    stale.map(({ run_id, thread_id, status, attempt, owner }) => [
      run_id,
      thread_id,
      status,
      String(attempt),
      owner ? `${owner.host} pid ${owner.pid}` : "unknown",
      shownTime(print, owner?.seen_at),
    ]),
  );
  if (!apply) {
    print.note("a server resumes them on startup if it can; to end them all: graph-serve recover --apply");
    return;
  }
  print.note(`${stale.length - left} ended`);
  if (left > 0) print.note(`${left} on threads that are still locked: try again in 15 seconds`);
}
