import type { Command } from "@commander-js/extra-typings";
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { ConfigError } from "../../support/errors.js";
import { errorMessage } from "../../support/errors/thrown.js";
import { readText } from "../../support/read-text.js";
import { examples, type Runner } from "../session/command.js";
import type { Session } from "../session/session.js";
import { pointerOf } from "../../view/changes.js";
import { quoted } from "../session/options.js";

export function openapiCommand(command: Command, run: Runner): void {
  command
    .option("--out <file>", "write the document to a file")
    .option("--yaml", "print YAML instead of JSON")
    .option("--check <file>", "compare with a file; exit with code 1 if they differ")
    .addHelpText(
      "after",
      examples("graph-serve openapi --out openapi.json", "graph-serve openapi --check openapi.json"),
    )
    .action((options) => run(command, async (session) => openapi(session, options)));
}

interface OpenapiFlags {
  out?: string;
  yaml?: boolean;
  check?: string;
}

const MOST_DIFFERENCES = 10;

/** `openapi`: prints the document, writes it to a file, or compares it with one. */
async function openapi(session: Session, flags: OpenapiFlags): Promise<number> {
  const [{ buildOpenApi }, { ROUTES }] = await Promise.all([
    import("../../http/openapi.js"),
    import("../../http/route-table.js"),
  ]);
  // Drop keys that are undefined, as in the JSON that clients receive.
  const document = JSON.parse(JSON.stringify(buildOpenApi(ROUTES))) as unknown;
  if (flags.check !== undefined) return check(session, document, flags.check);
  const text = flags.yaml ? await toYaml(document) : JSON.stringify(document, null, 2);
  if (flags.out === undefined) {
    session.print.data(text.trimEnd());
    return 0;
  }
  await writeFile(resolve(session.io.cwd, flags.out), `${text.trimEnd()}\n`);
  session.print.note(`wrote ${flags.out}`);
  return 0;
}

async function toYaml(document: unknown): Promise<string> {
  const { stringify } = await import("yaml");
  return stringify(document, { aliasDuplicateObjects: false });
}

async function check({ io, print }: Session, document: unknown, file: string): Promise<number> {
  const found = differences(document, await readDocument(resolve(io.cwd, file)));
  if (print.flags.json) print.json({ matches: found.length === 0, differences: found });
  else if (found.length === 0) print.data(`${file} is up to date`);
  else {
    print.data(`${file} differs from the API:`);
    for (const difference of found.slice(0, MOST_DIFFERENCES)) print.data(`  ${difference}`);
    if (found.length > MOST_DIFFERENCES) print.data(`  and ${found.length - MOST_DIFFERENCES} more`);
    print.note(`update it: graph-serve openapi --out ${file}`);
  }
  return found.length === 0 ? 0 : 1;
}

async function readDocument(file: string): Promise<unknown> {
  const { parse } = await import("yaml");
  try {
    return parse(await readText(file)) as unknown;
  } catch (error) {
    throw new ConfigError(`${file} cannot be read as an OpenAPI document: ${errorMessage(error)}`, {
      hint: `write it: graph-serve openapi --out ${quoted(file)}`,
      cause: error,
    });
  }
}

/** Describes the paths at which two documents differ. */
function differences(ours: unknown, theirs: unknown, path = ""): string[] {
  if (Object.is(ours, theirs)) return [];
  if (typeof ours !== "object" || typeof theirs !== "object" || ours === null || theirs === null) {
    return [`${path || "/"} changed`];
  }
  const [left, right] = [ours as Record<string, unknown>, theirs as Record<string, unknown>];
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].flatMap((key) => {
    const place = path + pointerOf([key]);
    if (!Object.hasOwn(right, key)) return [`${place} is missing from the file`];
    return Object.hasOwn(left, key)
      ? differences(left[key], right[key], place)
      : [`${place} exists only in the file`];
  });
}
