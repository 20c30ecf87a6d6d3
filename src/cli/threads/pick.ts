/** Lets the user choose a thread, a run or another item on a terminal, for commands that were called without one. */
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { InvalidRequestError } from "../../support/errors.js";
import { escapeControl } from "../../view/text.js";
import type { RowsClient } from "../../client/rows.js";
import { withRows } from "../session/open-client.js";
import type { ClientFlags } from "../session/options.js";
import type { Session } from "../session/session.js";
import { clipped, shownAgo, shownId } from "../terminal/text.js";
import { listedThread, listThreadPage } from "./list.js";

export const MOST_LISTED = 9;

export interface Choice {
  id: string;
  text: string;
}

/** What to choose from, read from `place`. */
interface Choices {
  place: string;
  choices: readonly Choice[];
}

/**
 * The thread argument, or the thread that the user chooses.
 * @throws InvalidRequestError without an argument and without a terminal (`invalid_request`)
 */
export function threadArgument(session: Session, flags: ClientFlags, text?: string): Promise<string> {
  return argumentOr(session, { what: "thread", text }, () =>
    withRows(session, flags, async (client) => ({
      place: client.place,
      choices: await newestThreads(session, client),
    })),
  );
}

/**
 * The run argument, or the run that the user chooses.
 * @throws InvalidRequestError without an argument and without a terminal (`invalid_request`)
 */
export function runArgument(session: Session, flags: ClientFlags, text?: string): Promise<string> {
  return argumentOr(session, { what: "run", text }, () =>
    withRows(session, flags, async (client) => ({
      place: client.place,
      choices: await newestRuns(session, client),
    })),
  );
}

interface Question {
  what: "thread" | "run" | "cron" | "webhook";
  text: string | undefined;
}

/** How an item is created, if there is none to choose from. */
const CREATE: Readonly<Record<Question["what"], string>> = {
  thread: 'create one: graph-serve run --message "hello"',
  run: 'create one: graph-serve run --message "hello"',
  cron: "create one: client.crons.create() of the SDK, see docs/schedules.md",
  webhook: "delivered webhooks are not kept, so none is left to send",
};

/**
 * The argument, or the item that the user chooses.
 * @param read reads at most `MOST_LISTED` choices; called only if the user can choose
 * @throws InvalidRequestError without an argument and without a terminal (`invalid_request`)
 */
export async function argumentOr(
  session: Session,
  { what, text }: Question,
  read: () => Promise<Choices>,
): Promise<string> {
  const { io, print } = session;
  if (text !== undefined) return text;
  if (!io.stdin.isTTY || !print.isWatched || print.isJson)
    throw new InvalidRequestError(`missing required argument "${what}"`, undefined, {
      hint: `use @last for the newest, or an id from graph-serve ${what}s list`,
    });
  const { place, choices } = await read();
  if (choices.length === 0)
    throw new InvalidRequestError(`there are no ${what}s in ${place} to choose from`, undefined, {
      hint: CREATE[what],
    });
  choices.forEach((choice, index) => print.note(`  ${index + 1}  ${choice.text}`));
  return ask(session, what, choices);
}

/** One line of a list to choose from. */
export const choiceLine = (parts: readonly string[]): string => clipped(parts.join("  "), ROOM);

/** Repeats the question until the answer is valid; an empty answer is the first choice. */
async function ask({ io }: Session, what: string, choices: readonly Choice[]): Promise<string> {
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      io.stderr.write(String(chunk));
      done();
    },
  });
  const prompt = createInterface({ input: io.stdin, output });
  const closed = new Promise<undefined>((resolve) => prompt.once("close", () => resolve(undefined)));
  try {
    for (;;) {
      const question = prompt.question(`${what} [1-${choices.length}, default 1]: `);
      const answer = await Promise.race([question, closed]);
      if (answer === undefined) throw new InvalidRequestError(`no ${what} was chosen`);
      const choice = choices[answer.trim() === "" ? 0 : Number(answer) - 1];
      if (choice) return choice.id;
    }
  } finally {
    prompt.close();
  }
}

async function newestThreads({ print }: Session, client: RowsClient): Promise<Choice[]> {
  const { items } = await listThreadPage(client, {}, { limit: MOST_LISTED, offset: 0 });
  const listed = await Promise.all(items.map((thread) => listedThread(client, thread)));
  return listed.map(({ thread: { thread_id: id = "", status = "", updated_at }, title }) => ({
    id,
    text: choiceLine([shownId(print, id), status, shownAgo(print, updated_at), title]),
  }));
}

async function newestRuns({ print }: Session, client: RowsClient): Promise<Choice[]> {
  const runs = await client.runs.search({ limit: MOST_LISTED, offset: 0 });
  return runs.map(({ run_id: id = "", status = "", created_at, error }) => ({
    id,
    text: choiceLine([shownId(print, id), status, shownAgo(print, created_at), escapeControl(error ?? "")]),
  }));
}

const ROOM = 76;
