import type { Command } from "@commander-js/extra-typings";
import type { Client } from "../../client/client.js";
import type { Assistant } from "../../models/assistant.js";
import { examples, type Runner } from "../session/command.js";
import { walkPages } from "../../client/walk.js";
import { findItem } from "../session/find.js";
import { withClient } from "../session/open-client.js";
import { addClientOptions, type ClientFlags, pageOf, type PageFlags } from "../session/options.js";
import { confirm, type Session } from "../session/session.js";
import { type Column, printFields } from "../terminal/table.js";
import { slicePage, printPage } from "../terminal/page.js";
import type { Printer } from "../terminal/print.js";
import { shownId, shownTime } from "../terminal/text.js";

const ID = "0198c0de-0000-7000-8000-000000000000";
const ASSISTANT = "id of the assistant, or the beginning of the id";
/** Page size of the search for an id. */
const PAGE = 1000;

/** Also lists assistants that clients created while the setting was on. */
const MANAGED = { settings: { assistants: "managed", list_all_assistants: true } } as const;

export function assistantsCommand(assistants: Command, run: Runner): void {
  assistants.addHelpText(
    "after",
    examples("graph-serve assistants list", `graph-serve assistants show ${ID}`),
  );
  addClientOptions(
    assistants
      .command("list")
      .description("List assistants: those of the graphs, then those that clients created.")
      .option("--limit <n>", "maximum number of assistants", "10")
      .option("--offset <n>", "number of assistants to skip"),
  )
    .addHelpText("after", examples("graph-serve assistants list", "graph-serve assistants list --json"))
    .action((options, command) => run(command, async (session) => listAssistants(session, options)));
  addClientOptions(
    assistants
      .command("show")
      .description("Show an assistant with its config and context.")
      .argument("<assistant>", ASSISTANT),
  )
    .addHelpText("after", examples(`graph-serve assistants show ${ID}`))
    .action((assistant, options, command) =>
      run(command, async (session) => showAssistant(session, assistant, options)),
    );
  addClientOptions(
    assistants
      .command("delete")
      .description("Delete an assistant that a client created; its runs are kept.")
      .argument("<assistant>", ASSISTANT),
  )
    .addHelpText("after", examples(`graph-serve assistants delete ${ID} --yes`))
    .action((assistant, options, command) =>
      run(command, async (session) => deleteAssistant(session, assistant, options)),
    );
}

async function listAssistants(session: Session, flags: ClientFlags & PageFlags): Promise<number> {
  const { print } = session;
  const page = pageOf(flags, PAGE - 1);
  await withClient(session, flags, MANAGED, async (client) => {
    const found = (await client.assistants.search({ ...page, limit: page.limit + 1 })) as Assistant[];
    printPage(print, slicePage(found, page), {
      columns: columns(print),
      none: `no assistants found in ${client.place}`,
    });
  });
  return 0;
}

const columns = (print: Printer): Column<Assistant>[] => [
  { title: "ASSISTANT", cell: ({ assistant_id }) => shownId(print, assistant_id) },
  { title: "GRAPH", cell: ({ graph_id }) => graph_id, least: 8, spare: 1 },
  { title: "NAME", cell: ({ name }) => name, least: 8 },
  { title: "VERSION", cell: ({ version }) => String(version), spare: 2 },
  { title: "UPDATED", cell: ({ updated_at }) => shownTime(print, updated_at), spare: 3 },
];

async function showAssistant(session: Session, text: string, flags: ClientFlags): Promise<number> {
  const { print } = session;
  await withClient(session, flags, MANAGED, async (client) => {
    const assistant = await findAssistant(client, text);
    if (print.isJson) return print.json(assistant);
    printFields(print, [
      ["assistant", assistant.assistant_id],
      ["graph", assistant.graph_id],
      ["name", assistant.name],
      ["description", assistant.description ?? undefined],
      ["version", String(assistant.version)],
      ["created", shownTime(print, assistant.created_at)],
      ["updated", shownTime(print, assistant.updated_at)],
      ["metadata", JSON.stringify(assistant.metadata)],
      ["config", JSON.stringify(assistant.config)],
      ["context", JSON.stringify(assistant.context)],
    ]);
  });
  return 0;
}

async function deleteAssistant(session: Session, text: string, flags: ClientFlags): Promise<number> {
  const { print } = session;
  await withClient(session, flags, { ...MANAGED, access: "write" }, async (client) => {
    const { assistant_id } = await findAssistant(client, text);
    if (!(await confirm(session, `Delete assistant ${assistant_id}?`))) return;
    await client.assistants.delete(assistant_id);
    if (print.isJson) print.json({ deleted: [assistant_id] });
    else print.note(`deleted assistant ${assistant_id}`);
  });
  return 0;
}

/** @throws NotFoundError (`assistant_not_found`), InvalidRequestError if several match (`invalid_request`) */
async function findAssistant(client: Client, text: string): Promise<Assistant> {
  return findItem(
    "assistant",
    text,
    walkPages(async (page) => (await client.assistants.search(page)) as Assistant[]),
    { idOf: ({ assistant_id }) => assistant_id, newest: "last" },
  );
}
