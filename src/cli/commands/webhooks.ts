import type { Command } from "@commander-js/extra-typings";
import type { Client } from "../../client/client.js";
import type { Webhook } from "../../models/webhook.js";
import { canonicalUuid } from "../../support/ids.js";
import { examples, type Runner } from "../session/command.js";
import { walkPages } from "../../client/walk.js";
import { findItem } from "../session/find.js";
import { withClient } from "../session/open-client.js";
import { addClientOptions, type ClientFlags, oneOf, pageOf, type PageFlags } from "../session/options.js";
import type { Session } from "../session/session.js";
import { argumentOr, choiceLine, MOST_LISTED } from "../threads/pick.js";
import type { Column } from "../terminal/table.js";
import { slicePage, printPage } from "../terminal/page.js";
import type { Printer } from "../terminal/print.js";
import { shownId, shownTime } from "../terminal/text.js";

const RUN = "id of the run that the webhook reports, the beginning of the id, or @last";
const ID = "0198c0de-0000-7000-8000-000000000000";
const STATUSES = ["pending", "failed"] as const;
const MOST_AT_ONCE = 1000;

/** Works without the `webhooks` setting: these commands only list and mark webhooks, and a server sends them. */
const WEBHOOKS = { settings: { webhooks: { secret: "" } } } as const;

export function webhooksCommand(webhooks: Command, run: Runner): void {
  webhooks.addHelpText("after", examples("graph-serve webhooks list", `graph-serve webhooks send ${ID}`));
  addClientOptions(
    webhooks
      .command("list")
      .description("List undelivered webhooks, oldest first.")
      .option("--status <status>", "only webhooks with this status: pending or failed")
      .option("--limit <n>", "maximum number of webhooks", "10")
      .option("--offset <n>", "number of webhooks to skip"),
  )
    .addHelpText("after", examples("graph-serve webhooks list --status failed"))
    .action((options, command) => run(command, async (session) => listWebhooks(session, options)));
  for (const [name, what] of [
    ["send", "Resend a webhook, with all retries; a server sends it."],
    ["delete", "Delete a webhook, so that it is not sent again."],
  ] as const) {
    addClientOptions(webhooks.command(name).description(what).argument("[run]", RUN))
      .addHelpText("after", examples(`graph-serve webhooks ${name} ${ID}`))
      .action((runId, options, command) =>
        run(command, async (session) =>
          change(session, name, await webhookArgument(session, options, runId), options),
        ),
      );
  }
}

interface ListFlags extends ClientFlags, PageFlags {
  status?: string;
}

async function listWebhooks(session: Session, flags: ListFlags): Promise<number> {
  const { print } = session;
  const page = pageOf(flags, MOST_AT_ONCE - 1);
  const status = flags.status === undefined ? undefined : oneOf("--status", flags.status, STATUSES);
  await withClient(session, flags, WEBHOOKS, async (client) => {
    const filter = { ...(status && { status }), ...page, limit: page.limit + 1 };
    const found = await client.webhooks.list(filter);
    printPage(print, slicePage(found, page), {
      columns: columns(print),
      none: `no webhooks found in ${client.place}`,
    });
  });
  return 0;
}

const columns = (print: Printer): Column<Webhook>[] => [
  { title: "RUN", cell: ({ run_id }) => run_id },
  { title: "STATUS", cell: ({ status }) => status },
  { title: "SENT", cell: ({ sendings }) => String(sendings) },
  { title: "NEXT", cell: ({ next_sending_at }) => shownTime(print, next_sending_at) },
  { title: "URL", cell: ({ url }) => url },
  { title: "ERROR", cell: ({ last_error }) => last_error ?? "" },
];

async function change(
  session: Session,
  what: "send" | "delete",
  text: string,
  flags: ClientFlags,
): Promise<number> {
  const { print } = session;
  await withClient(session, flags, { ...WEBHOOKS, access: "write" }, async (client) => {
    const runId = await webhookRun(client, text);
    await client.webhooks[what](runId);
    const waits = what === "send" && (await waitsForRun(client, runId));
    const done = waits ? "waiting" : what === "send" ? "sent" : "deleted";
    if (print.isJson) print.json({ [done]: [runId] });
    else print.note(NOTES[done](runId));
  });
  return 0;
}

const NOTES = {
  sent: (runId: string) => `a server will resend the webhook of ${runId}`,
  waiting: (runId: string) =>
    `run ${runId} has not ended: a server will send its webhook when it ends, without this command`,
  deleted: (runId: string) => `deleted webhook ${runId}`,
};

/** Whether there is nothing to send, because the run of the webhook has not ended. */
async function waitsForRun(client: Client, runId: string): Promise<boolean> {
  for await (const webhook of walkPages((page) => client.webhooks.list(page)))
    if (webhook.run_id === runId) return webhook.next_sending_at === null && webhook.failed_at === null;
  return false;
}

/** The argument, or the webhook that the user chooses. @throws InvalidRequestError without a terminal (`invalid_request`) */
function webhookArgument(session: Session, flags: ClientFlags, text?: string): Promise<string> {
  return argumentOr(session, { what: "webhook", text }, () =>
    withClient(session, flags, WEBHOOKS, async (client) => ({
      place: client.place,
      choices: (await client.webhooks.list({ limit: MOST_LISTED, offset: 0 })).map(
        ({ run_id, status, url, last_error }) => ({
          id: run_id,
          text: choiceLine([shownId(session.print, run_id), status, url, last_error ?? ""]),
        }),
      ),
    })),
  );
}

/** A full id is not looked up. @throws NotFoundError, InvalidRequestError if several webhooks match */
async function webhookRun(client: Client, text: string): Promise<string> {
  const id = canonicalUuid(text);
  if (id !== undefined) return id;
  const form = { idOf: ({ run_id }: Webhook) => run_id, newest: "last" } as const;
  const webhooks = walkPages((page) => client.webhooks.list(page));
  return (await findItem("webhook", text, webhooks, form)).run_id;
}
