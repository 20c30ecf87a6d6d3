import { extname, resolve } from "node:path";
import type { Command } from "@commander-js/extra-typings";
import type { GraphDrawing } from "../../models/assistant.js";
import { ConfigError } from "../../support/errors.js";
import { errorMessage } from "../../support/errors/thrown.js";
import { readText } from "../../support/read-text.js";
import { type Diagram, diagramOf } from "../../view/diagram.js";
import { examples, type Runner } from "../session/command.js";
import { Option } from "../session/commander.js";
import { marksOf, type GraphProgress, threadProgress, toDot, toMermaid } from "../draw/as-text.js";
import { drawAscii } from "../draw/ascii.js";
import { openGraph } from "../session/open.js";
import { addClientOptions } from "../session/options.js";
import type { Session } from "../session/session.js";
import { findGraph, findThreadId } from "../session/find.js";
import { withClient } from "../session/open-client.js";
import type { Client } from "../../client/client.js";
import type { ClientFlags } from "../session/options.js";

const FORMATS = ["ascii", "mermaid", "dot", "json"] as const;

export function graphCommand(command: Command, run: Runner): void {
  addClientOptions(
    command
      .argument(
        "[graph]",
        "file such as ./graph.ts:graph, key of the configuration, or assistant of the server",
      )
      .addOption(new Option("--format <format>", "output format (default ascii)").choices(FORMATS))
      .option("--xray", "expand subgraphs into their nodes")
      .option("--thread <id>", "mark the executed and next nodes of this thread")
      .option("--check <file>", "compare with a file; exit with code 1 if it differs"),
  )
    .addHelpText(
      "after",
      examples(
        "graph-serve graph",
        "graph-serve graph ./graph.ts:graph --xray",
        "graph-serve graph --format mermaid > graph.mmd",
        "graph-serve graph --check graph.mmd",
      ),
    )
    .action((graph, options) => run(command, async (session) => drawGraph(session, graph, options)));
}

type GraphFormat = "ascii" | "mermaid" | "dot" | "json";

interface GraphFlags extends ClientFlags {
  format?: GraphFormat;
  xray?: boolean;
  thread?: string;
  check?: string;
}

interface Drawn {
  graphId: string;
  drawing: GraphDrawing;
  thread?: GraphProgress & { thread_id: string };
}

const MOST_DIFFERENCES = 10;
const FORMAT_OF_EXTENSION: Record<string, GraphFormat> = {
  ".mmd": "mermaid",
  ".mermaid": "mermaid",
  ".dot": "dot",
  ".gv": "dot",
  ".json": "json",
};

/** `graph`: draws a graph, optionally with the progress of a thread, or compares the drawing with a file. */
async function drawGraph(session: Session, target: string | undefined, flags: GraphFlags): Promise<number> {
  const drawn = await draw(session, target, flags);
  const marks = drawn.thread
    ? marksOf(
        drawn.thread,
        drawn.drawing.nodes.map(({ id }) => String(id)),
      )
    : undefined;
  const diagram = diagramOf(drawn.drawing, marks);
  if (flags.check !== undefined) return check(session, drawn, diagram, flags.check, flags.format);
  show(session, drawn, diagram, flags.format ?? "ascii");
  return 0;
}

async function draw(session: Session, target: string | undefined, flags: GraphFlags): Promise<Drawn> {
  const options = { xray: flags.xray ?? false };
  if (flags.url === undefined && flags.thread === undefined) return drawLocal(session, target, options);
  return withClient(session, flags, {}, async (client) => {
    const thread = flags.thread === undefined ? undefined : await progressOf(client, flags.thread);
    const { graphId: own, ...progress } = thread ?? {};
    const asked = target ?? own;
    const drawn =
      flags.url === undefined
        ? await drawLocal(session, asked, options)
        : await drawRemote(client, asked, options);
    return { ...drawn, ...(thread && { thread: progress as GraphProgress & { thread_id: string } }) };
  });
}

async function drawLocal(
  session: Session,
  target: string | undefined,
  options: { xray: boolean },
): Promise<Drawn> {
  const opened = await openGraph(session, target);
  try {
    return { graphId: opened.id, drawing: await opened.service.assistants.draw(opened.id, options) };
  } finally {
    await opened.close();
  }
}

async function drawRemote(
  client: Client,
  target: string | undefined,
  options: { xray: boolean },
): Promise<Drawn> {
  const graphId = await findGraph(client, target);
  return { graphId, drawing: await client.assistants.getGraph(graphId, options) };
}

async function progressOf(client: Client, text: string) {
  const thread_id = await findThreadId(client, text);
  const { metadata } = await client.threads.get(thread_id);
  const { graph_id } = metadata;
  return {
    thread_id,
    graphId: typeof graph_id === "string" ? graph_id : undefined,
    ...(await threadProgress(client, thread_id)),
  };
}

function textOf({ drawing, thread }: Drawn, diagram: Diagram, format: GraphFormat, width: number): string {
  if (format === "mermaid") return toMermaid(diagram);
  if (format === "dot") return toDot(diagram);
  if (format === "json") return JSON.stringify({ ...drawing, ...(thread && { thread }) }, null, 2);
  return drawAscii(diagram, width);
}

function show({ print }: Session, drawn: Drawn, diagram: Diagram, format: GraphFormat): void {
  const { graphId, drawing, thread } = drawn;
  if (!print.flags.json) print.data(textOf(drawn, diagram, format, print.width));
  else if (format === "mermaid" || format === "dot")
    print.json({ graph_id: graphId, format, text: textOf(drawn, diagram, format, Infinity) });
  else print.json({ graph_id: graphId, ...drawing, ...(thread && { thread }) });
}

async function check(
  { io, print }: Session,
  drawn: Drawn,
  diagram: Diagram,
  file: string,
  asked: GraphFormat | undefined,
): Promise<number> {
  const format = asked ?? FORMAT_OF_EXTENSION[extname(file).toLowerCase()] ?? "ascii";
  const now = linesOf(textOf(drawn, diagram, format, Infinity));
  const before = linesOf(await readDrawing(resolve(io.cwd, file), file));
  const [added, removed] = [without(now, before), without(before, now)];
  const matches = now.join("\n") === before.join("\n");
  if (print.flags.json) print.json({ graph_id: drawn.graphId, format, matches, added, removed });
  else if (matches) print.data(`${file} is up to date`);
  else {
    const lines = [...removed.map((line) => `- ${line}`), ...added.map((line) => `+ ${line}`)];
    print.data(`${file} differs from graph "${drawn.graphId}":`);
    for (const line of lines.slice(0, MOST_DIFFERENCES)) print.data(line);
    if (lines.length > MOST_DIFFERENCES) print.data(`and ${lines.length - MOST_DIFFERENCES} more lines`);
    print.note(`update it: graph-serve graph ${drawn.graphId} --format ${format} > ${file}`);
  }
  return matches ? 0 : 1;
}

const linesOf = (text: string): string[] => text.trimEnd().split(/\r?\n/);

function without(lines: readonly string[], others: readonly string[]): string[] {
  const known = new Set(others);
  return lines.filter((line) => !known.has(line));
}

async function readDrawing(path: string, file: string): Promise<string> {
  return readText(path).catch((error: unknown) => {
    throw new ConfigError(`${file} cannot be read: ${errorMessage(error)}`, {
      hint: `create it: graph-serve graph > ${file}`,
      cause: error,
    });
  });
}
