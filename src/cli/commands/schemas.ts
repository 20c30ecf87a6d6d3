import { mkdir, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Command } from "@commander-js/extra-typings";
import { Option } from "../session/commander.js";
import type { GraphSchema } from "../../models/assistant.js";
import { isRecord, type JsonObject } from "../../models/common.js";
import { ConfigError, InvalidRequestError } from "../../support/errors.js";
import { errorMessage } from "../../support/errors/thrown.js";
import { examples, type Runner } from "../session/command.js";
import { openGraph } from "../session/open.js";
import { clientOptions } from "../session/options.js";
import { shortPath } from "../session/report-error.js";
import { compareSchemas, type SchemaComparison } from "../schemas/compare.js";
import {
  isFromChannels,
  schemaFile,
  type SchemaKind,
  schemaKinds,
  schemaOfKind,
  typesFile,
} from "../schemas/resolve.js";
import { channelsError, unknownTypes } from "../schemas/unknown.js";
import { INSTALL_PARSER, staticSchemas } from "../schemas/static-schemas.js";
import { toTypeScript, typeName } from "../schemas/to-typescript.js";
import type { Session } from "../session/session.js";
import { findGraph } from "../session/find.js";
import { withClient } from "../session/open-client.js";
import type { ClientFlags } from "../session/options.js";
import { escapeControl } from "../../view/text.js";
import { readIfExists } from "../../support/read-text.js";

export function schemasCommand(command: Command, run: Runner): void {
  command
    .argument(
      "[graph]",
      "file such as ./graph.ts:graph, key of the configuration, or assistant of the server",
    )
    .option("--kind <kinds>", "comma-separated: input, output, state, config, context (default all)")
    .option("--out <dir>", "folder to write one file per kind into, or to read them from with --check")
    .addOption(
      new Option("--format <format>", "output format").choices(["json", "ts"] as const).default("json"),
    )
    .option("--check", "compare with the files in --out; exit with code 1 if a change breaks clients")
    .option("--strict", "with --check: also exit with code 1 if the type of a key is unknown")
    .addOption(clientOptions.url())
    .addOption(clientOptions.apiKey())
    .option("--static", "read the types from the source code, with LangGraph's parser if it is installed")
    .addHelpText(
      "after",
      examples(
        "graph-serve schemas",
        "graph-serve schemas ./graph.ts:graph --kind input",
        "graph-serve schemas --format ts --out schemas",
        "graph-serve schemas --out schemas",
        "graph-serve schemas --out schemas --check",
        "graph-serve schemas --url http://127.0.0.1:2024",
      ),
    )
    .action((graph, options) =>
      run(command, async (session) => {
        return schemas(session, graph, options);
      }),
    );
}

interface SchemasFlags extends Pick<ClientFlags, "url" | "apiKey"> {
  kind?: string;
  out?: string;
  format: "json" | "ts";
  check?: boolean;
  strict?: boolean;
  static?: boolean;
}

interface Derived {
  graphId: string;
  kinds: SchemaKind[];
  schemas: GraphSchema;
}

/** `schemas`: prints a graph's schemas, writes them, or compares them with committed files. */
async function schemas(session: Session, graph: string | undefined, flags: SchemasFlags): Promise<number> {
  const kinds = schemaKinds(flags.kind);
  refuseContradictions(flags);
  const derived = { kinds, ...(await derive(session, graph, flags)) };
  if (flags.check) return check(session, derived, { out: flags.out ?? "", isStrict: flags.strict ?? false });
  explainUnknown(session, derived);
  if (flags.out !== undefined) return write(session, derived, flags.out, flags.format);
  show(session, derived, flags.format);
  return 0;
}

function refuseContradictions({ check, strict, out, format, static: isStatic, url }: SchemasFlags): void {
  const refuse = (fault: string, hint: string): never => {
    throw new InvalidRequestError(fault, undefined, { hint });
  };
  if (isStatic && url !== undefined)
    refuse("--static reads a source file and cannot be combined with --url", "remove one of them");
  if (strict && !check) refuse("--strict requires --check", "add --check, or remove --strict");
  if (check && out === undefined) refuse("--check requires the folder of the files", "add --out DIR");
  if (check && format === "ts")
    refuse("--check compares JSON schemas", `remove --format ts${isStatic ? "; --static can stay" : ""}`);
}

type Found = Omit<Derived, "kinds">;

async function derive(session: Session, target: string | undefined, flags: SchemasFlags): Promise<Found> {
  if (flags.url === undefined) return deriveHere(session, target, flags.static ?? false);
  return withClient(session, flags, {}, async (client) => {
    const graphId = await findGraph(client, target);
    return { graphId, schemas: await client.assistants.getSchemas(graphId) };
  });
}

async function deriveHere(session: Session, target: string | undefined, isStatic: boolean): Promise<Found> {
  const graph = await openGraph(session, target);
  try {
    const { source } = graph.summary;
    const schemas =
      isStatic && source !== undefined
        ? await staticSchemas(source, graph.baseDir, graph.id)
        : await graph.service.assistants.schemas(graph.id);
    return { graphId: graph.id, schemas };
  } finally {
    await graph.close();
  }
}

/** Prints each key of unknown type with the reason: one line per key, even if several kinds have it. */
function explainUnknown({ print }: Session, { kinds, schemas }: Derived): void {
  const channels = kinds.filter((kind) => isFromChannels(schemaOfKind(schemas, kind)));
  const lines = new Map<string, SchemaKind[]>();
  for (const kind of kinds.filter((each) => !channels.includes(each))) {
    for (const { path, message } of unknownTypes(schemaOfKind(schemas, kind))) {
      const line = path === "" ? message : `${path}: ${message}`;
      lines.set(line, [...(lines.get(line) ?? []), kind]);
    }
  }
  for (const [line, among] of lines)
    print.note(escapeControl(`note  ${among.join(", ")}: ${line}, so its type is unknown`));
  if (channels.length === 0) return;
  const faults = new Set(channels.map((kind) => channelsError(schemaOfKind(schemas, kind) ?? {})));
  print.note(
    `note  ${channels.join(", ")}: ${escapeControl([...faults].join("; "))}; the keys are complete, but types are` +
      ` inferred from defaults and reducers only ("x-source": "channels")`,
  );
  print.note(`      for full types: declare the state with zod or StateSchema, or use --static after`);
  print.note(`      ${INSTALL_PARSER}`);
}

function show({ print }: Session, { graphId, kinds, schemas }: Derived, format: "json" | "ts"): void {
  const [only] = kinds;
  if (format === "ts" && !print.flags.json) print.data(typesOf(graphId, kinds, schemas).trimEnd());
  else if (kinds.length === 1 && only && !print.flags.json)
    print.data(JSON.stringify(schemaOfKind(schemas, only), null, 2));
  else {
    const picked = kinds.map((kind) => [`${kind}_schema`, schemaOfKind(schemas, kind)] as const);
    print.json({
      graph_id: graphId,
      ...(format === "ts" ? { typescript: typesOf(graphId, kinds, schemas) } : Object.fromEntries(picked)),
    });
  }
}

function typesOf(graphId: string, kinds: readonly SchemaKind[], schemas: GraphSchema): string {
  const named = kinds.flatMap((kind) => {
    const schema = schemaOfKind(schemas, kind);
    return schema ? [{ name: typeName(graphId) + typeName(kind), schema }] : [];
  });
  return `// Types of the graph "${graphId.replace(/[\r\n]/g, " ")}", generated by: graph-serve schemas --format ts\n\n${toTypeScript(named)}`;
}

async function write(
  { io, print }: Session,
  { graphId, kinds, schemas }: Derived,
  out: string,
  format: "json" | "ts",
): Promise<number> {
  const folder = resolve(io.cwd, out);
  await mkdir(folder, { recursive: true });
  const written: string[] = [];
  const put = async (name: string, text: string) => {
    await writeFile(join(folder, name), text);
    written.push(shortPath(join(folder, name), io.cwd));
  };
  if (format === "ts") await put(typesFile(graphId), typesOf(graphId, kinds, schemas));
  else {
    for (const kind of kinds) {
      const schema = schemaOfKind(schemas, kind);
      const name = schemaFile(graphId, kind);
      if (schema) await put(name, `${JSON.stringify(schema, null, 2)}\n`);
      // What an earlier graph had and this one has not must not stay behind.
      else await rm(join(folder, name), { force: true });
    }
  }
  if (print.flags.json) print.json({ graph_id: graphId, files: written });
  else for (const file of written) print.note(`wrote ${file}`);
  return 0;
}

async function check(
  session: Session,
  { graphId, kinds, schemas }: Derived,
  { out, isStrict }: { out: string; isStrict: boolean },
): Promise<number> {
  const folder = resolve(session.io.cwd, out);
  const committed = await Promise.all(
    kinds.map((kind) => readCommitted(join(folder, schemaFile(graphId, kind)))),
  );
  if (committed.every((schema) => schema === null) && kinds.some((kind) => schemaOfKind(schemas, kind))) {
    throw new ConfigError(`${out} contains no schema of the graph "${graphId}"`, {
      hint: `write and commit them first: graph-serve schemas ${graphId} --out ${out}`,
    });
  }
  const compared = kinds.map((kind, index) =>
    compareSchemas(kind, committed[index] ?? null, schemaOfKind(schemas, kind)),
  );
  report(session, graphId, compared, out);
  const fails = ({ result, unknown }: SchemaComparison) =>
    result === "breaking" || (isStrict && unknown.length > 0);
  return compared.some(fails) ? 1 : 0;
}

/** The committed schema; null if the file does not exist. */
async function readCommitted(file: string): Promise<JsonObject | null> {
  try {
    const text = await readIfExists(file);
    if (text === undefined) return null;
    const schema = JSON.parse(text) as unknown;
    if (isRecord(schema)) return schema;
    throw new Error("it does not contain a JSON object");
  } catch (error) {
    throw new ConfigError(`${file} cannot be read as a JSON schema: ${errorMessage(error)}`, {
      hint: "regenerate it: graph-serve schemas --out DIR",
      cause: error,
      location: { file },
    });
  }
}

function report({ print }: Session, graphId: string, compared: SchemaComparison[], out: string): void {
  const worst = compared.some(({ result }) => result === "breaking")
    ? "breaking"
    : compared.some(({ result }) => result === "compatible")
      ? "compatible"
      : "same";
  if (print.flags.json) {
    print.json({ graph_id: graphId, result: worst, kinds: compared });
    return;
  }
  const { red, green, yellow, dim } = print.colors;
  const paint = { breaking: red, compatible: green, same: dim, unknown: yellow };
  for (const { kind, result, changes, unknown } of compared) {
    print.data(`${kind.padEnd(8)}${paint[result](result)}`);
    const unknowns = unknown.map((type) => ({ level: "unknown" as const, ...type }));
    for (const { level, path, message } of [...changes, ...unknowns]) {
      print.data(`  ${paint[level](level.padEnd(10))}  ${path === "" ? "" : `${path}: `}${message}`);
    }
  }
  if (worst !== "same") print.note(`to accept the change: graph-serve schemas ${graphId} --out ${out}`);
}
