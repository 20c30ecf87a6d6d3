import type { Command } from "@commander-js/extra-typings";
import { changeLines, type Mark } from "../../view/change-lines.js";
import { type Change, changesBetween, jsonPatch } from "../../view/changes.js";
import { examples, type Runner } from "../session/command.js";
import { Option } from "../session/commander.js";
import { diffPage } from "../diff/page.js";
import { fileSide, selectPath, type DiffSide, parsePathFlag, threadSide } from "../diff/side.js";
import { addClientOptions, listOption, clientOptions } from "../session/options.js";
import type { Session } from "../session/session.js";
import { locatedNotFound } from "../session/not-found.js";
import { clientOf } from "../session/open-client.js";
import type { Client } from "../../client/client.js";
import type { ClientFlags } from "../session/options.js";
import type { Printer } from "../terminal/print.js";
import { clipped } from "../terminal/text.js";

const EXAMPLE = "0198c0de-0000-7000-8000-000000000000";
const SIDE = "thread, thread@step, thread@checkpoint (@-1 is the latest), or a JSON file";

export function diffCommand(command: Command, run: Runner): void {
  addClientOptions(
    command
      .argument("<a>", SIDE)
      .argument("<b>", SIDE)
      .option("--path <path>", "compare only this path, such as messages[-1]")
      .addOption(listOption("--ignore <path>", "ignore this path; * matches any key or index"))
      .option("--exit-code", "exit with code 1 if they differ")
      .addOption(
        new Option("--format <format>", "output format").choices(DIFF_FORMATS).default("text" as const),
      ),
  )
    .addOption(clientOptions.raw())
    .addHelpText(
      "after",
      examples(
        `graph-serve diff ${EXAMPLE}@0 ${EXAMPLE}`,
        `graph-serve diff ${EXAMPLE}@-2 ${EXAMPLE}@-1 --path messages --format json-patch`,
        `graph-serve diff expected.json ${EXAMPLE} --ignore "messages.*.id" --exit-code`,
        `graph-serve diff ${EXAMPLE}@0 ${EXAMPLE} --format html > diff.html`,
      ),
    )
    .action((a, b, options) => run(command, async (session) => diff(session, a, b, options)));
}

interface DiffFlags extends ClientFlags {
  path?: string;
  ignore?: string[];
  exitCode?: boolean;
  format: DiffFormat;
}

const DIFFER_EXIT = 1;

/** `diff`: compares the values of two checkpoints or files. */
async function diff(session: Session, a: string, b: string, flags: DiffFlags): Promise<number> {
  const path = flags.path === undefined ? [] : parsePathFlag("--path", flags.path);
  const ignored = (flags.ignore ?? []).map((text) => parsePathFlag("--ignore", text));
  const [before, after] = await readSides(session, [a, b], flags);
  const values = [before, after].map((side) => selectPath(side.values, path, ignored));
  const changes = changesBetween(values[0], values[1]);
  show(session.print, [before.label, after.label], changes, flags.format);
  return flags.exitCode && changes.length > 0 ? DIFFER_EXIT : 0;
}

/** Opens the storage only if one side is a thread. */
async function readSides(
  session: Session,
  texts: [string, string],
  flags: ClientFlags,
): Promise<[DiffSide, DiffSide]> {
  let client: Client | undefined;
  const read = async (text: string): Promise<DiffSide> => {
    const file = await fileSide(session, text);
    if (file) return file;
    client ??= await clientOf(session, flags);
    return threadSide(session, client, text);
  };
  try {
    return [await read(texts[0]), await read(texts[1])];
  } catch (error) {
    throw client ? locatedNotFound(error, client, { ...session.flags, ...flags }) : error;
  } finally {
    await client?.close();
  }
}

function show(
  print: Printer,
  labels: [string, string],
  changes: readonly Change[],
  format: DiffFlags["format"],
): void {
  if (format === "json-patch") print.json(jsonPatch(changes));
  else if (print.isJson) print.json({ a: labels[0], b: labels[1], equal: changes.length === 0, changes });
  else if (format === "html") print.part(diffPage(labels, changeLines(changes)));
  else showText(print, labels, changes);
}

function showText(print: Printer, labels: [string, string], changes: readonly Change[]): void {
  if (changes.length === 0) {
    print.note("no differences");
    return;
  }
  const { green, red, yellow, bold } = print.colors;
  const paint: Record<Mark, (text: string) => string> = { "+": green, "-": red, "~": yellow };
  print.data(red(clipped(`--- ${labels[0]}`, print.width)));
  print.data(green(clipped(`+++ ${labels[1]}`, print.width)));
  for (const { mark, place, text } of changeLines(changes)) {
    const room = Math.max(8, print.width - place.length - 4);
    print.data(`${paint[mark](`${mark} ${bold(clipped(place, print.width - 2))}`)}: ${clipped(text, room)}`);
  }
}

const DIFF_FORMATS = ["text", "json-patch", "html"] as const;
type DiffFormat = (typeof DIFF_FORMATS)[number];
