import type { Command } from "@commander-js/extra-typings";
import type { RowsClient } from "../../client/rows.js";
import { walkPages } from "../../client/walk.js";
import { type Usage, USAGE_GROUPS, type UsageFilter, type UsageGroup } from "../../models/usage.js";
import { InvalidRequestError } from "../../support/errors.js";
import { collect } from "../../support/read-ahead.js";
import { examples, type Runner } from "../session/command.js";
import { findThreadId } from "../session/find.js";
import { withRows } from "../session/open-client.js";
import { addClientOptions, type ClientFlags, oneOf, THREAD, timeOf } from "../session/options.js";
import type { Session } from "../session/session.js";
import { printJsonList } from "../terminal/json-list.js";
import type { Printer } from "../terminal/print.js";
import { type Column, printColumns } from "../terminal/table.js";

export function usageCommand(usage: Command, run: Runner): void {
  addClientOptions(
    usage
      .option("--by <groups>", `comma-separated: ${USAGE_GROUPS.join(", ")}`, "model")
      .option("--since <time>", "usage since a time (2026-01-31T12:00) or a duration (24h, 30d)")
      .option("--until <time>", "usage before a time or a duration ago")
      .option("--thread <thread>", `usage of one thread: ${THREAD}`)
      .option("--csv", "print comma-separated values"),
  )
    .addHelpText(
      "after",
      examples(
        "graph-serve usage --since 24h",
        "graph-serve usage --by user,day --since 30d --csv",
        "graph-serve usage --by node --thread @last",
      ),
    )
    .action((options, command) => run(command, (session) => showUsage(session, options)));
}

interface UsageFlags extends ClientFlags {
  by: string;
  since?: string;
  until?: string;
  thread?: string;
  csv?: boolean;
}

async function showUsage(session: Session, flags: UsageFlags): Promise<number> {
  const { print } = session;
  const { since, until, thread, csv } = flags;
  if (csv && print.isJson)
    throw new InvalidRequestError("--csv and --json are two formats", undefined, {
      hint: "remove one of them",
    });
  const by = flags.by.split(",").map((group) => oneOf("--by", group.trim(), USAGE_GROUPS));
  await withRows(session, flags, async (client: RowsClient) => {
    const filter: UsageFilter = {
      group_by: by.join(","),
      ...(since !== undefined && { since: timeOf("--since", since) }),
      ...(until !== undefined && { until: timeOf("--until", until) }),
      ...(thread !== undefined && { thread_id: await findThreadId(client, thread) }),
    };
    const usage = await collect(walkPages((page) => client.usage({ ...filter, ...page })));
    if (csv) printCsv(print, usage, by);
    else if (print.isJson) await printJsonList(print, usage);
    else if (usage.length === 0) print.note(`no usage in ${client.place}`);
    else printUsage(print, usage, by);
  });
  return 0;
}

function printUsage(print: Printer, usage: readonly Usage[], by: readonly UsageGroup[]): void {
  const groups = by.map((group): Column<Usage> => ({
    title: group.toUpperCase(),
    cell: (one) => one[group] ?? "none",
  }));
  const number = (title: string, field: "calls" | "input_tokens" | "output_tokens", spare?: number) => ({
    ...{ title, cell: (one: Usage) => one[field].toLocaleString("en") },
    ...(spare !== undefined && { spare }),
  });
  const columns: Column<Usage>[] = [
    ...groups,
    number("CALLS", "calls", 2),
    number("INPUT", "input_tokens"),
    { title: "CACHED", cell: ({ cache_read_tokens: cached }) => cached.toLocaleString("en"), spare: 3 },
    number("OUTPUT", "output_tokens"),
    { title: "COST (USD)", cell: costText },
  ];
  printColumns(print, columns, usage);
  const unpriced = usage.reduce((sum, { unpriced_calls }) => sum + unpriced_calls, 0);
  if (unpriced > 0)
    print.note(
      `the price of ${unpriced} calls is unknown: set \`prices\` in the configuration, or install @pydantic/genai-prices`,
    );
}

const costText = ({ cost_usd, unpriced_calls }: Usage): string =>
  cost_usd === null ? "unknown" : `${cost_usd.toFixed(6)}${unpriced_calls > 0 ? " + unknown" : ""}`;

function printCsv(print: Printer, usage: readonly Usage[], by: readonly UsageGroup[]): void {
  const fields = [...by, ...COUNTS];
  print.data(fields.join(","));
  for (const one of usage) print.data(fields.map((field) => csvCell(one[field])).join(","));
}

const COUNTS = [
  ...["calls", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"],
  ...["reasoning_tokens", "cost_usd", "unpriced_calls"],
] as (keyof Usage)[];

const csvCell = (value: Usage[keyof Usage]): string => {
  const text = value == null ? "" : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
