import type { Command } from "@commander-js/extra-typings";
import type { Client } from "../../client/client.js";
import type { Cron } from "../../models/cron.js";
import { examples, type Runner } from "../session/command.js";
import { walkPages } from "../../client/walk.js";
import { findItem } from "../session/find.js";
import { withClient } from "../session/open-client.js";
import { addClientOptions, type ClientFlags, pageOf, type PageFlags } from "../session/options.js";
import { confirm, type Session } from "../session/session.js";
import { argumentOr, choiceLine, MOST_LISTED } from "../threads/pick.js";
import { type Column, printFields } from "../terminal/table.js";
import { slicePage, printPage } from "../terminal/page.js";
import type { Printer } from "../terminal/print.js";
import { shownId, shownTime } from "../terminal/text.js";

const CRON = "id of the cron, the beginning of the id, or @last";
const ID = "0198c0de-0000-7000-8000-000000000000";
/** Page size of the search for an id. */
const PAGE = 1000;

/** Works even if the `crons` setting is off: these commands do not run crons. */
const CRONS = { settings: { crons: true } } as const;

export function cronsCommand(crons: Command, run: Runner): void {
  crons.addHelpText("after", examples("graph-serve crons list", `graph-serve crons pause ${ID}`));
  addClientOptions(
    crons
      .command("list")
      .description("List crons, newest first.")
      .option("--limit <n>", "maximum number of crons", "10")
      .option("--offset <n>", "number of crons to skip"),
  )
    .addHelpText("after", examples("graph-serve crons list", "graph-serve crons list --json"))
    .action((options, command) => run(command, async (session) => listCrons(session, options)));
  addClientOptions(
    crons.command("show").description("Show a cron and the payload of its runs.").argument("[cron]", CRON),
  )
    .addHelpText("after", examples(`graph-serve crons show ${ID}`))
    .action((cron, options, command) =>
      run(command, async (session) => showCron(session, await cronArgument(session, options, cron), options)),
    );
  for (const [name, enabled, what] of [
    ["pause", false, "Pause a cron: it starts no runs until it is resumed."],
    ["resume", true, "Resume a paused cron, starting with its next scheduled time."],
  ] as const) {
    addClientOptions(crons.command(name).description(what).argument("[cron]", CRON))
      .addHelpText("after", examples(`graph-serve crons ${name} ${ID}`))
      .action((cron, options, command) =>
        run(command, async (session) =>
          enableCron(session, await cronArgument(session, options, cron), enabled, options),
        ),
      );
  }
  addClientOptions(
    crons.command("delete").description("Delete a cron; its runs are kept.").argument("[cron]", CRON),
  )
    .addHelpText("after", examples(`graph-serve crons delete ${ID} --yes`))
    .action((cron, options, command) =>
      run(command, async (session) =>
        deleteCron(session, await cronArgument(session, options, cron), options),
      ),
    );
}

async function listCrons(session: Session, flags: ClientFlags & PageFlags): Promise<number> {
  const { print } = session;
  const page = pageOf(flags, PAGE - 1);
  await withClient(session, flags, CRONS, async (client) => {
    const found = await client.crons.search({ ...page, limit: page.limit + 1 });
    printPage(print, slicePage(found, page), {
      columns: columns(print),
      none: `no crons found in ${client.place}`,
    });
  });
  return 0;
}

const columns = (print: Printer): Column<Cron>[] => [
  { title: "CRON", cell: ({ cron_id }) => shownId(print, cron_id) },
  { title: "SCHEDULE", cell: scheduleOf },
  { title: "ASSISTANT", cell: ({ assistant_id }) => assistant_id },
  { title: "NEXT", cell: (cron) => nextOf(print, cron) },
  { title: "ERROR", cell: ({ last_error }) => last_error ?? "" },
];

const scheduleOf = ({ schedule, timezone }: Cron): string =>
  timezone === null ? schedule : `${schedule} ${timezone}`;

function nextOf(print: Printer, { enabled, next_run_date }: Cron): string {
  if (!enabled) return "paused";
  return next_run_date === null ? "ended" : shownTime(print, next_run_date);
}

async function showCron(session: Session, text: string, flags: ClientFlags): Promise<number> {
  await withClient(session, flags, CRONS, async (client) =>
    printCron(session.print, await findCron(client, text)),
  );
  return 0;
}

function printCron(print: Printer, cron: Cron): void {
  if (print.isJson) return print.json(cron);
  printFields(print, [
    ["cron", cron.cron_id],
    ["schedule", scheduleOf(cron)],
    ["next", nextOf(print, cron)],
    ["ends", cron.end_time === null ? undefined : shownTime(print, cron.end_time)],
    ["assistant", cron.assistant_id],
    ["thread", cron.thread_id ?? "a new one for each run"],
    ["user", cron.user_id ?? undefined],
    ["error", cron.last_error ?? undefined],
    ["metadata", JSON.stringify(cron.metadata)],
    ["payload", JSON.stringify(cron.payload)],
  ]);
}

async function enableCron(
  session: Session,
  text: string,
  enabled: boolean,
  flags: ClientFlags,
): Promise<number> {
  await withClient(session, flags, { ...CRONS, access: "write" }, async (client) => {
    const { cron_id } = await findCron(client, text);
    printCron(session.print, await client.crons.update(cron_id, { enabled }));
  });
  return 0;
}

async function deleteCron(session: Session, text: string, flags: ClientFlags): Promise<number> {
  const { print } = session;
  await withClient(session, flags, { ...CRONS, access: "write" }, async (client) => {
    const { cron_id } = await findCron(client, text);
    if (!(await confirm(session, `Delete cron ${cron_id}?`))) return;
    await client.crons.delete(cron_id);
    if (print.isJson) print.json({ deleted: [cron_id] });
    else print.note(`deleted cron ${cron_id}`);
  });
  return 0;
}

/** The argument, or the cron that the user chooses. @throws InvalidRequestError without a terminal (`invalid_request`) */
function cronArgument(session: Session, flags: ClientFlags, text?: string): Promise<string> {
  return argumentOr(session, { what: "cron", text }, () =>
    withClient(session, flags, CRONS, async (client) => ({
      place: client.place,
      choices: (await client.crons.search({ limit: MOST_LISTED, offset: 0 })).map((cron) => ({
        id: cron.cron_id,
        text: choiceLine([
          shownId(session.print, cron.cron_id),
          scheduleOf(cron),
          cron.assistant_id,
          nextOf(session.print, cron),
        ]),
      })),
    })),
  );
}

/** @throws NotFoundError (`cron_not_found`), InvalidRequestError if several crons match (`invalid_request`) */
async function findCron(client: Client, text: string): Promise<Cron> {
  return findItem(
    "cron",
    text,
    walkPages((page) => client.crons.search(page)),
    { idOf: ({ cron_id }) => cron_id, newest: "first" },
  );
}
