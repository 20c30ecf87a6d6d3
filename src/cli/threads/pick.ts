/** Lets the user choose a thread or a run on a terminal, for commands that were called without one. */
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

const MOST_LISTED = 9;

interface Choice {
  id: string;
  text: string;
}

/**
 * The thread argument, or the thread that the user chooses.
 * @throws InvalidRequestError without an argument and without a terminal (`invalid_request`)
 */
export function threadArgument(session: Session, flags: ClientFlags, text?: string): Promise<string> {
  return chosen(session, flags, { what: "thread", text, list: "threads list", choices: newestThreads });
}

/**
 * The run argument, or the run that the user chooses.
 * @throws InvalidRequestError without an argument and without a terminal (`invalid_request`)
 */
export function runArgument(session: Session, flags: ClientFlags, text?: string): Promise<string> {
  return chosen(session, flags, { what: "run", text, list: "runs list", choices: newestRuns });
}

interface Question {
  what: "thread" | "run";
  text: string | undefined;
  /** The command that lists them. */
  list: string;
  choices: (session: Session, client: RowsClient) => Promise<Choice[]>;
}

async function chosen(
  session: Session,
  flags: ClientFlags,
  { what, text, list, choices }: Question,
): Promise<string> {
  const { io, print } = session;
  if (text !== undefined) return text;
  if (!io.stdin.isTTY || !print.isWatched || print.isJson)
    throw new InvalidRequestError(`missing required argument "${what}"`, undefined, {
      hint: `use @last for the newest, or an id from graph-serve ${list}`,
    });
  return withRows(session, flags, async (client) => {
    const found = await choices(session, client);
    if (found.length === 0)
      throw new InvalidRequestError(`there are no ${what}s in ${client.place} to choose from`, undefined, {
        hint: 'create one: graph-serve run --message "hello"',
      });
    found.forEach((choice, index) => print.note(`  ${index + 1}  ${choice.text}`));
    return ask(session, what, found);
  });
}

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
    text: clipped([shownId(print, id), status, shownAgo(print, updated_at), title].join("  "), ROOM),
  }));
}

async function newestRuns({ print }: Session, client: RowsClient): Promise<Choice[]> {
  const runs = await client.runs.search({ limit: MOST_LISTED, offset: 0 });
  return runs.map(({ run_id: id = "", status = "", created_at, error }) => ({
    id,
    text: clipped(
      [shownId(print, id), status, shownAgo(print, created_at), escapeControl(error ?? "")].join("  "),
      ROOM,
    ),
  }));
}

const ROOM = 76;
