/** `--schema-lock`: the schemas of the graphs against a committed file. */
import { readFile, writeFile } from "node:fs/promises";
import { basename, resolve } from "node:path";
import type { ConfigDocument } from "../../config/document.js";
import { parseConfigText } from "../../config/parse.js";
import { ConfigError } from "../../errors.js";
import type { GraphSchema } from "../../models/assistant.js";
import { isRecord } from "../../models/common.js";
import type { Host } from "../../testing/hosts.js";
import { shortPath } from "../report-error.js";
import { compareSchemas } from "../schemas/compare.js";
import { schemaKinds, schemaOf } from "../schemas/kinds.js";
import type { Session } from "../session.js";
import type { TestOptions } from "./flags.js";

type Lock = Record<string, GraphSchema>;

/**
 * What has changed since the file was written, a line each; `-u` accepts it. A graph that the file does not have is
 * added, unless `--ci` forbids to write.
 * @throws ConfigError when the file is malformed (`config_invalid`)
 */
export async function lockFaults(
  { io, print }: Session,
  hosts: readonly Host[],
  { schemaLock, snapshots }: Pick<TestOptions, "schemaLock" | "snapshots">,
): Promise<string[]> {
  if (schemaLock === undefined) return [];
  const file = resolve(io.cwd, schemaLock);
  const document = await readLock(file);
  const before = document.value as Lock;
  const now: Lock = { ...before };
  const faults: string[] = [];
  for (const { graph, target } of hosts) {
    const name = shortPath(graph, io.cwd);
    const schemas = await target.schemas();
    const locked = before[name];
    if (locked && snapshots !== "update") faults.push(...changes(name, locked, schemas, document));
    else if (snapshots === "check")
      faults.push(`${schemaLock} has no schemas of ${name}, and --ci writes none`);
    else now[name] = schemas;
  }
  if (JSON.stringify(now) !== JSON.stringify(before)) {
    await writeFile(file, `${JSON.stringify(now, null, 2)}\n`);
    print.note(`wrote ${schemaLock}`);
  }
  return faults;
}

function changes(graph: string, before: GraphSchema, now: GraphSchema, document: ConfigDocument): string[] {
  return schemaKinds(undefined).flatMap((kind) =>
    compareSchemas(kind, schemaOf(before, kind), schemaOf(now, kind)).changes.map(
      ({ level, path, message }) => {
        const keys = path.split(/[.[\]{}]+/).filter(Boolean);
        const { line } = document.locate([graph, `${kind}_schema`, "properties", ...keys]);
        const change = `the ${kind} schema of ${graph} changed (${level}): ${path === "" ? "" : `${path}: `}${message}`;
        return `${change}; locked in ${basename(document.file)}:${line}, -u accepts it`;
      },
    ),
  );
}

async function readLock(file: string): Promise<ConfigDocument> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "{}";
    throw error;
  });
  const document = parseConfigText(file, text, "json");
  if (isRecord(document.value)) return document;
  throw new ConfigError("the locked schemas are no JSON object", {
    hint: "delete the file, and run the command again to write it anew",
    location: document.locate([]),
  });
}
