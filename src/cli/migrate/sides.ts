/** The storages of `migrate copy`, its progress display and report. */
import type { LoadedConfig } from "../../config/load.js";
import type { CopyProgress, MigrationReport, StoragePlace } from "../../service/migration.js";
import { isRecord } from "../../models/common.js";
import { InvalidRequestError } from "../../support/errors.js";
import { didYouMean } from "../../support/nearest.js";
import { impliedScheme, parseJsonFlag } from "../session/options.js";
import type { Printer } from "../terminal/print.js";
import { printTable } from "../terminal/table.js";

export interface CopyFlags {
  from?: string;
  fromScheme?: string;
  fromOptions?: string;
  to?: string;
  toScheme?: string;
  toOptions?: string;
  graph?: string;
  overwrite?: boolean;
}

/** The configured storage. */
export function configuredStorage({ settings, baseDir }: LoadedConfig): StoragePlace {
  const { checkpointer_scheme, checkpointer_uri, checkpointer_options } = settings;
  return { checkpointer_scheme, checkpointer_uri, checkpointer_options, cwd: baseDir };
}

/**
 * The two storages of a copy; a side without a flag is the configured storage.
 * @throws InvalidRequestError if neither side has a flag, or a flag is invalid (`invalid_request`)
 */
export function migrationSides(
  flags: CopyFlags,
  configured: StoragePlace,
  cwd: string,
): Record<"from" | "to", StoragePlace> {
  const from = sideOf(
    "--from",
    { uri: flags.from, scheme: flags.fromScheme, options: flags.fromOptions },
    cwd,
  );
  const to = sideOf("--to", { uri: flags.to, scheme: flags.toScheme, options: flags.toOptions }, cwd);
  if (!from && !to) {
    throw new InvalidRequestError("migrate copy requires --from, --to, or both", undefined, {
      hint: "graph-serve migrate copy --from ./threads.db --to postgresql://user:password@host:5432/database",
    });
  }
  if (to?.checkpointer_scheme === SQLITE_SAVER)
    throw new InvalidRequestError("a file of SqliteSaver can only be copied from", undefined, {
      hint: "set --to to another storage, such as ./threads.db",
    });
  return { from: listed(durable("--from", from ?? configured)), to: durable("--to", to ?? configured) };
}

const SQLITE_SAVER = "sqlite-saver";

/**
 * The source, with the graph of its threads if it does not record one: `graph`, or the only configured graph.
 * @throws InvalidRequestError if the graph is missing, unknown or not needed (`invalid_request`)
 */
export function withGraph(
  from: StoragePlace,
  graph: string | undefined,
  known: readonly string[],
): StoragePlace {
  const refused = (message: string, hint: string) => new InvalidRequestError(message, undefined, { hint });
  if (from.checkpointer_scheme !== SQLITE_SAVER) {
    if (graph === undefined) return from;
    throw refused("--graph is only for --from sqlite-saver://FILE", "omit it: the threads name their graph");
  }
  const list = known.length > 0 ? `the graphs are: ${known.join(", ")}` : "no graphs are configured";
  if (graph !== undefined && known.length > 0 && !known.includes(graph)) {
    const similar = didYouMean(graph, known);
    throw refused(`graph ${JSON.stringify(graph)} is not configured`, similar ? `${similar} ${list}` : list);
  }
  const only = graph ?? (known.length === 1 ? known[0] : undefined);
  if (only !== undefined)
    return { ...from, checkpointer_options: { ...from.checkpointer_options, graph: only } };
  throw refused(
    "--graph is required: the checkpoints of SqliteSaver do not record their graph",
    `add --graph ID, the graph that continues the threads; ${list}`,
  );
}

interface SideFlags {
  uri?: string;
  scheme?: string;
  options?: string;
}

function sideOf(flag: string, { uri, scheme, options }: SideFlags, cwd: string): StoragePlace | undefined {
  if (uri === undefined && scheme === undefined) {
    if (options === undefined) return undefined;
    throw new InvalidRequestError(`${flag}-options requires ${flag}`);
  }
  const { checkpointerScheme = "" } = impliedScheme({ checkpointerScheme: scheme, checkpointerUri: uri });
  return {
    checkpointer_scheme: checkpointerScheme,
    checkpointer_uri: uri,
    checkpointer_options: options === undefined ? {} : optionsOf(`${flag}-options`, options),
    cwd,
    flag,
  };
}

function optionsOf(flag: string, text: string): Record<string, unknown> {
  const options = parseJsonFlag(flag, text);
  if (isRecord(options)) return options;
  throw new InvalidRequestError(`${flag} is not a JSON object: ${text}`);
}

/** @throws InvalidRequestError if the storage is memory (`invalid_request`) */
function durable(flag: string, place: StoragePlace): StoragePlace {
  if (place.checkpointer_scheme !== "memory") return place;
  throw new InvalidRequestError("scheme memory cannot be copied", undefined, {
    hint: `specify a storage with ${flag}`,
  });
}

/**
 * Opening Redis would succeed and copy nothing, because a new process knows none of its threads.
 * @throws InvalidRequestError if the storage is Redis (`invalid_request`)
 */
function listed(place: StoragePlace): StoragePlace {
  if (!/^rediss?$/.test(place.checkpointer_scheme)) return place;
  throw new InvalidRequestError(
    "scheme redis cannot be copied from: its threads cannot be listed",
    undefined,
    {
      hint: "set --from to a storage that keeps threads: sqlite, postgres or mongodb",
    },
  );
}

// Shows progress on stderr: a bar on a terminal, otherwise lines.

const WIDTH = 30;
/** Minimum time between two updates of the bar, and between two lines, in milliseconds. */
const DRAW_MS = 50;
const LINE_MS = 5_000;

export class ProgressView {
  readonly #print: Printer;
  readonly #isBar: boolean;
  #shownAt = 0;
  #isDrawn = false;

  constructor(print: Printer) {
    this.#print = print;
    this.#isBar = print.isWatched && !print.flags.quiet;
    this.#shownAt = this.#isBar ? 0 : Date.now();
  }

  show(progress: CopyProgress): void {
    this.#detail(progress);
    const isDue = Date.now() - this.#shownAt >= (this.#isBar ? DRAW_MS : LINE_MS);
    if (!isDue && !(this.#isBar && progress.ended && progress.done === progress.threads)) return;
    this.#shownAt = Date.now();
    const { done, threads, checkpoints } = progress;
    const count = `${done} of ${threads} threads, ${checkpoints} checkpoints`;
    if (this.#isBar) this.#draw(`${bar(done, threads)} ${count}`);
    else this.#print.note(count);
  }

  /** Removes the progress bar. */
  end(): void {
    if (this.#isDrawn) this.#print.notePart("\r\u001b[K");
    this.#isDrawn = false;
  }

  /** With `--verbose`, prints one line per thread. */
  #detail({ ended }: CopyProgress): void {
    if (!ended || !this.#print.flags.verbose) return;
    const { thread_id, copy } = ended;
    this.end();
    if (copy.outcome === "left") this.#print.note(`${thread_id}  skipped: ${LEFT_TEXTS[copy.reason]}`);
    else
      this.#print.note(
        `${thread_id}  ${copy.outcome}, ${copy.checkpoints} checkpoints, ${copy.runs} new runs`,
      );
  }

  #draw(text: string): void {
    this.#print.notePart(`\r\u001b[K${text}`);
    this.#isDrawn = true;
  }
}

function bar(done: number, all: number): string {
  const filled = all === 0 ? WIDTH : Math.min(WIDTH, Math.floor((done / all) * WIDTH));
  return `${"#".repeat(filled)}${"-".repeat(WIDTH - filled)}`;
}

// Prints the report of a copy and derives its exit code.

type Left = MigrationReport["left"][number]["reason"];

const LEFT_TEXTS: Readonly<Record<Left, string>> = {
  busy: "a run is in flight on it",
  busy_in_target: "a run is in flight on it in the target",
  changed_meanwhile: "it changed during the copy",
  exists: "the target has a different thread with this id",
  differs: "the content in the target differs from the source",
};

const FAILED_EXIT = 1;
const LEFT_EXIT = 5;

/** 0 if everything was copied, 1 if a comparison failed, 5 if something was skipped. */
export function exitCodeOf({ left, left_items, left_assistants }: MigrationReport): number {
  const all = [...left, ...left_items, ...left_assistants];
  if (all.some(({ reason }) => reason === "differs")) return FAILED_EXIT;
  return all.length > 0 ? LEFT_EXIT : 0;
}

export function printReport(print: Printer, report: MigrationReport): void {
  const { from, to, left, left_items, left_assistants, notices, ...counts } = report;
  for (const notice of notices) print.note(notice);
  if (print.isJson) {
    const place = ({ scheme, location }: typeof from) => ({ scheme, location: location ?? null });
    print.json({ from: place(from), to: place(to), ...counts, left, left_items, left_assistants });
  } else {
    const { threads, runs, checkpoints, items, timers, assistants, usage } = counts;
    printTable(
      print,
      ["", "COPIED", "UNCHANGED", "SKIPPED"],
      [
        ["threads", threads.copied, threads.current, left.length],
        ["runs", runs.copied, runs.total - runs.copied, ""],
        ["checkpoints", checkpoints.copied, checkpoints.total - checkpoints.copied, ""],
        ["items", items.copied, items.total - items.copied, left_items.length],
        ["timers", timers.copied, timers.total - timers.copied, ""],
        ["assistants", assistants.copied, assistants.total - assistants.copied, left_assistants.length],
        ["usage", usage, "", ""],
      ].map((cells) => cells.map(String)),
    );
  }
  warnings(print, report);
}

function warnings(print: Printer, report: MigrationReport): void {
  const { from, to, left, left_items, left_assistants } = report;
  for (const { thread_id, reason } of left)
    print.warn(`thread ${thread_id} was skipped: ${LEFT_TEXTS[reason]}`);
  for (const { namespace, key } of left_items)
    print.warn(
      `item ${JSON.stringify(key)} of ${JSON.stringify(namespace)} was skipped: the target has a different one`,
    );
  for (const { assistant_id } of left_assistants)
    print.warn(`assistant ${assistant_id} was skipped: the target has a different one`);
  if (left.some(({ reason }) => reason === "busy" || reason === "changed_meanwhile"))
    print.note(
      "run it again when these threads are idle; end runs of a crashed server with graph-serve recover --apply",
    );
  if ([...left, ...left_items, ...left_assistants].some(({ reason }) => reason === "exists"))
    print.note("use --overwrite to replace existing threads, items and assistants");
  if (!from.durable || !to.durable)
    print.warn(
      `scheme ${from.durable ? to.scheme : from.scheme} stores only checkpoints, not threads and runs`,
    );
  if (from.keepsItems && !to.keepsItems) print.warn(`scheme ${to.scheme} does not store long-term memory`);
}
