import type { Command } from "@commander-js/extra-typings";
import type { GraphVersion, ThreadCheck } from "../../models/version.js";
import { escapeControl } from "../../view/text.js";
import { examples, type Runner } from "../session/command.js";
import { addStorageOptions, type StorageFlags, timeOf } from "../session/options.js";
import { createReport } from "../session/report-file.js";
import type { Session } from "../session/session.js";
import { printJsonList } from "../terminal/json-list.js";
import type { Printer } from "../terminal/print.js";
import { type Column, printColumns } from "../terminal/table.js";
import { shownTime } from "../terminal/text.js";
import { type GraphCase, junitByGraph } from "./junit.js";
import { shortVersion, threads, versionsConfig, withStorage } from "./stored-threads.js";

export function versionsCommand(versions: Command, run: Runner): void {
  versions.addHelpText("after", examples("graph-serve versions list", "graph-serve versions check"));
  addStorageOptions(
    versions
      .command("list")
      .description("List the versions of the graphs, with the threads and open runs of each."),
  )
    .addHelpText("after", examples("graph-serve versions list", "graph-serve versions list --json"))
    .action((flags, command) => run(command, async (session) => listVersions(session, flags)));
  addStorageOptions(
    versions
      .command("check")
      .description(
        "Check whether stored threads can continue on the graphs of this project; changes nothing.",
      )
      .option("--against <file>", "check against this graph file instead of the configured one")
      .option(
        "--graph <id>",
        "check only threads of this graph; with --against, the graph that the file replaces",
      )
      .option("--since <time>", "only threads changed since this time; a time, or a duration such as 7d")
      .option(
        "--ci",
        "also fail if a thread cannot be checked, for instance because its graph is not configured",
      )
      .option("--junit <file>", "write a JUnit report to this file"),
  )
    .addHelpText(
      "after",
      examples(
        "graph-serve versions check",
        "graph-serve versions check --against ./graph.ts --since 30d",
        "graph-serve versions check --ci --junit versions.xml",
      ),
    )
    .action((flags, command) => run(command, async (session) => checkVersions(session, flags)));
  addStorageOptions(
    versions
      .command("migrate")
      .description(
        "Convert stored threads to the current version of their graph, with the migrations of this project.",
      )
      .option("--dry-run", "convert in memory only, and list what would change")
      .option("--graph <id>", "only threads of this graph")
      .option("--since <time>", "only threads changed since this time; a time, or a duration such as 7d"),
  )
    .addHelpText("after", examples("graph-serve versions migrate --dry-run", "graph-serve versions migrate"))
    .action((flags, command) =>
      run(command, async (session) => {
        const { migrateVersions } = await import("./migrate.js");
        return migrateVersions(session, flags);
      }),
    );
}

interface CheckFlags extends StorageFlags {
  against?: string;
  graph?: string;
  since?: string;
  ci?: boolean;
  junit?: string;
}

const columns = (print: Printer): Column<GraphVersion>[] => [
  { title: "GRAPH", cell: ({ graph_id }) => graph_id },
  { title: "VERSION", cell: ({ version }) => shortVersion(version) },
  { title: "SERVED", cell: ({ is_current }) => (is_current ? "yes" : "") },
  { title: "THREADS", cell: ({ threads }) => String(threads), spare: 1 },
  { title: "INTERRUPTED", cell: ({ interrupted }) => String(interrupted), spare: 3 },
  { title: "OPEN RUNS", cell: ({ open_runs }) => String(open_runs), spare: 2 },
  {
    title: "LAST USED",
    spare: 4,
    cell: ({ last_used_at }) => (last_used_at === null ? "" : shownTime(print, last_used_at)),
  },
];

async function listVersions(session: Session, flags: StorageFlags): Promise<number> {
  const { print } = session;
  const config = await versionsConfig(session, flags);
  const items = await withStorage(config, async (service) => service.versions.list());
  if (print.isJson) print.json({ items, next: null });
  else printColumns(print, columns(print), items);
  return 0;
}

/** Exit code 1 if a thread cannot continue; with `--ci`, also if one was not checked. */
async function checkVersions(session: Session, flags: CheckFlags): Promise<number> {
  const { print } = session;
  const config = await versionsConfig(session, flags);
  const graphId = flags.against === undefined ? flags.graph : config.settings.default_assistant_id;
  const since = flags.since === undefined ? undefined : timeOf("--since", flags.since);
  const counts = { checked: 0, failed: 0, unchecked: 0 };
  const cases: GraphCase[] = [];
  const junit = await createReport(session, flags.junit);
  await withStorage(config, async (service) => {
    const fault = flags.against !== undefined && service.graphFaults().get(graphId ?? "");
    if (fault) throw fault;
    const versions = service.versions;
    const checks = counted(versions.check({ since, graphId }), counts, (check) => {
      if (junit) cases.push(junitCase(check, flags.ci === true));
    });
    if (print.isJson) await printJsonList(print, checks);
    else for await (const check of checks) printCheck(print, check, flags.ci === true);
  });
  await junit?.write(junitByGraph(cases));
  print.note(summary(counts));
  if (counts.failed > 0)
    print.note("keep the old nodes and keys until no thread needs them, or migrate: see docs/deploys.md");
  return counts.failed > 0 || (flags.ci === true && counts.unchecked > 0) ? 1 : 0;
}

async function* counted(
  checks: AsyncIterable<ThreadCheck>,
  counts: { checked: number; failed: number; unchecked: number },
  keep: (check: ThreadCheck) => void,
): AsyncGenerator<ThreadCheck> {
  for await (const check of checks) {
    if (check.unchecked === null) counts.checked += 1;
    else counts.unchecked += 1;
    if (check.problems.length > 0) counts.failed += 1;
    keep(check);
    yield check;
  }
}

/** @param isStrict threads that were not checked fail instead of being skipped */
function junitCase({ thread_id, graph_id, problems, unchecked }: ThreadCheck, isStrict: boolean): GraphCase {
  const [first] = problems;
  const head = { graph_id, name: thread_id };
  if (first) {
    const text = problems.map(({ message }) => message).join("\n");
    return { ...head, failure: { type: first.kind, message: first.message, text } };
  }
  if (unchecked === null) return head;
  return isStrict
    ? { ...head, failure: { type: "unchecked", message: unchecked, text: "" } }
    : { ...head, skipped: unchecked };
}

function printCheck(print: Printer, check: ThreadCheck, isStrict: boolean): void {
  const { thread_id, graph_id, version, status, problems, unchecked } = check;
  if (problems.length === 0 && !(isStrict && unchecked !== null)) return;
  const facts = [graph_id ?? "", shortVersion(version), status, shownTime(print, check.updated_at)];
  print.data(`${print.colors.bold(thread_id)}  ${print.colors.dim(facts.join("  "))}`);
  for (const { message } of problems) print.data(`  ${print.colors.red("fails")}  ${escapeControl(message)}`);
  if (unchecked !== null) print.data(`  ${print.colors.yellow("not checked")}  ${escapeControl(unchecked)}`);
}

function summary({
  checked,
  failed,
  unchecked,
}: {
  checked: number;
  failed: number;
  unchecked: number;
}): string {
  const others = unchecked > 0 ? `; ${threads(unchecked)} not checked` : "";
  return `${threads(checked)} checked: ${checked - failed} can continue, ${failed} cannot${others}`;
}
