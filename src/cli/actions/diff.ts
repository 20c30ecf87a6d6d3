import { changesBetween, type Change } from "../diff/changes.js";
import type { DiffFormat } from "../diff/formats.js";
import { diffPage } from "../diff/html.js";
import { jsonPatch } from "../diff/json-patch.js";
import { changeLines, type Mark } from "../diff/lines.js";
import { narrowed, stepsOf } from "../diff/narrow.js";
import { fileSide, threadSide, type Side } from "../diff/side.js";
import type { Printer } from "../print.js";
import type { Session } from "../session.js";
import { openSource } from "../source/open-source.js";
import type { Source, SourceFlags } from "../source/source.js";
import { clipped } from "../view/text.js";

export interface DiffFlags extends SourceFlags {
  path?: string;
  ignore?: string[];
  exitCode?: boolean;
  format: DiffFormat;
}

const DIFFER_EXIT = 1;

/** `diff`: what differs between the values of two checkpoints, or of files. */
export async function diff(session: Session, a: string, b: string, flags: DiffFlags): Promise<number> {
  const path = flags.path === undefined ? [] : stepsOf("--path", flags.path);
  const ignored = (flags.ignore ?? []).map((text) => stepsOf("--ignore", text));
  const [before, after] = await readSides(session, [a, b], flags);
  const values = [before, after].map((side) => narrowed(side.values, path, ignored));
  const changes = changesBetween(values[0], values[1]);
  show(session.print, [before.label, after.label], changes, flags.format);
  return flags.exitCode && changes.length > 0 ? DIFFER_EXIT : 0;
}

/** Files need no storage: it is opened when a thread is named. */
async function readSides(
  session: Session,
  texts: [string, string],
  flags: SourceFlags,
): Promise<[Side, Side]> {
  let source: Source | undefined;
  const read = async (text: string): Promise<Side> => {
    const file = await fileSide(session, text);
    if (file) return file;
    source ??= await openSource(session, flags);
    return threadSide(session, source, text);
  };
  try {
    return [await read(texts[0]), await read(texts[1])];
  } finally {
    await source?.close();
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
    print.note("they are equal");
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
