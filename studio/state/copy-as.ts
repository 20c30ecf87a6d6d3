/** Formats actions of the page as curl, SDK calls and commands. */
import type { RunCreateRequest } from "../../src/models/run.js";
import type { JsonObject } from "../../src/models/json.js";
import { serverUrl, storedKey } from "../api.js";
import { messageOf, withMessage } from "./draft.js";
import { fileOf, safeName } from "./files.js";

export type Action = RequestAction | CommandAction;

interface Request {
  method: string;
  /** Path below the server URL. */
  path: string;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
}

/** An action available in the API. */
export type RequestAction = RequestParts & (Followed | WithFiles);

interface RequestParts extends Request {
  /** SDK call, such as `client.runs.cancel("…")`. */
  sdk: string;
  /** Arguments of `graph-serve`; undefined if no command does this. */
  cli?: readonly string[];
}

interface Followed {
  /** Request to send after this one succeeds. */
  then?: Request;
  files?: undefined;
}

interface WithFiles {
  /** Files in the body, by the placeholders that replace their content. */
  files?: ReadonlyMap<string, string>;
  /** Not supported: the shell would read `&&` as part of the here-document. */
  then?: undefined;
}

/** An action that only a command can do. */
interface CommandAction {
  /** Arguments of `graph-serve`. */
  cli: readonly string[];
  /** File to redirect stdout to. */
  into?: string;
}

const NO_FILES: ReadonlyMap<string, string> = new Map();

/** Quotes a word for a POSIX shell. */
const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** Never copies the key itself. */
const KEY = '"x-api-key: $GRAPH_SERVE_API_KEY"';

export function asCurl({ then, files, ...request }: RequestAction): string {
  if (then === undefined) return curlOf(request, { files });
  return `${curlOf(request, { files, flags: ["--fail-with-body"] })} &&\n${curlOf(then)}`;
}

interface CurlParts {
  files?: RequestAction["files"];
  flags?: readonly string[];
}

function curlOf(
  { method, path, body, headers = {} }: Request,
  { files = NO_FILES, flags = [] }: CurlParts = {},
): string {
  const stream = path.includes("/stream") ? ["-N"] : [];
  const given = Object.entries(headers).flatMap(([name, value]) => ["-H", shellWord(`${name}: ${value}`)]);
  const text = body === undefined ? undefined : JSON.stringify(body);
  const read = text !== undefined && files.size > 0 ? hereDocument(text, files) : undefined;
  return [
    "curl",
    ...flags,
    ...stream,
    ...(method === "GET" ? [] : ["-X", method]),
    shellWord(serverUrl + path),
    ...(storedKey() === null ? [] : ["-H", KEY]),
    ...given,
    ...(text === undefined ? [] : ["-H", shellWord("content-type: application/json")]),
    ...(text === undefined ? [] : read === undefined ? ["-d", shellWord(text)] : ["-d", "@-", read]),
  ].join(" ");
}

/** Body on stdin, which reads the files when executed: as an argument it would be too long. */
function hereDocument(text: string, files: ReadonlyMap<string, string>): string {
  const plain = text.replaceAll(/[\\$`]/g, "\\$&");
  const marked = [...files].reduce(
    (whole, [mark, name]) => whole.replaceAll(mark, () => `$(base64 < ${shellWord(name)} | tr -d '\\n')`),
    plain,
  );
  return `<<END\n${marked}\nEND`;
}

export function asSdk({ sdk, files = NO_FILES }: RequestAction): string {
  const key = storedKey() === null ? "" : ", apiKey: process.env.GRAPH_SERVE_API_KEY";
  const call = [...files].reduce(
    (whole, [mark, name]) =>
      whole.replaceAll(JSON.stringify(mark), () => `readFileSync(${JSON.stringify(name)}, "base64")`),
    sdk,
  );
  return [
    ...(files.size > 0 ? ['import { readFileSync } from "node:fs";'] : []),
    'import { Client } from "@langchain/langgraph-sdk";',
    "",
    `const client = new Client({ apiUrl: ${JSON.stringify(serverUrl)}${key} });`,
    call,
  ].join("\n");
}

type CommandParts = Pick<RequestAction, "cli" | "files"> & Pick<CommandAction, "into">;

/** The command reads the API key from the environment. */
export function asCommand({ cli = [], files = NO_FILES, into }: CommandParts): string {
  const words = (all: readonly string[]) => all.map(shellWord).join(" ");
  const at = files.size > 0 ? cli.indexOf("--input") : -1;
  const input = cli[at + 1];
  const output = into === undefined ? "" : ` > ${shellWord(into)}`;
  if (at < 0 || input === undefined)
    return words(["npx", "graph-serve", ...cli, "--url", serverUrl]) + output;
  const line = ["npx", "graph-serve", ...cli.with(at + 1, "-"), "--url", serverUrl];
  return `${words(line)} ${hereDocument(input, files)}`;
}

/** Replaces the content of named files by placeholders; returns the file names by placeholder. */
function withoutFiles(input: unknown): { input: unknown; files: Map<string, string> } {
  const files = new Map<string, string>();
  const said = messageOf(input);
  if (!said?.files.some((block) => isNamed(block))) return { input, files };
  const marked = said.files.map((block) => {
    const name = fileOf(block)?.name;
    if (!isNamed(block) || name === undefined) return block;
    const mark = `file-${Math.random().toString(36).slice(2)}-${files.size}`;
    files.set(mark, safeName(name));
    return { ...block, data: mark };
  });
  return { input: withMessage(input, { ...said, files: marked }), files };
}

const isNamed = (block: JsonObject): boolean =>
  typeof block.data === "string" && fileOf(block)?.name !== undefined;

/** Source text of call arguments. */
export const args = (...values: unknown[]): string =>
  values.map((value) => JSON.stringify(value, null, typeof value === "object" ? 2 : undefined)).join(", ");

/** Request fields that the page sets. */
export type RunWish = Pick<
  RunCreateRequest,
  "input" | "command" | "config" | "context" | "interrupt_before" | "interrupt_after"
>;

const SDK_NAMES: Readonly<Record<string, string>> = {
  interrupt_before: "interruptBefore",
  interrupt_after: "interruptAfter",
};
const FLAGS: Readonly<Record<string, string>> = {
  input: "--input",
  config: "--run-config",
  context: "--context",
};

/** Starts a run; without a thread the run is stateless. */
export function runAction(graph: string, thread: string | undefined, asked: RunWish): RequestAction {
  const { input, files } = withoutFiles(asked.input);
  const wish = { ...asked, ...(files.size > 0 && { input: input }) };
  const given = Object.entries(wish).filter(([, value]) => value !== undefined);
  const stream = { streamMode: ["updates", "messages-tuple", "custom"], streamSubgraphs: true };
  const payload = {
    ...Object.fromEntries(given.map(([name, value]) => [SDK_NAMES[name] ?? name, value])),
    ...stream,
  };
  const call = `client.runs.stream(${args(thread ?? null, graph, payload)})`;
  return {
    method: "POST",
    path: thread === undefined ? "/runs/stream" : `/threads/${thread}/runs/stream`,
    body: {
      assistant_id: graph,
      ...wish,
      stream_mode: stream.streamMode,
      stream_subgraphs: true,
    },
    sdk: `for await (const { event, data } of ${call}) {\n  console.log(event, data);\n}`,
    ...cliOfRun(graph, thread, wish),
    ...(files.size > 0 && { files }),
  };
}

/** Breakpoints have no flag, so such runs have no command. */
function cliOfRun(graph: string, thread: string | undefined, wish: RunWish): Pick<RequestAction, "cli"> {
  const { interrupt_before, interrupt_after, command, ...rest } = wish;
  if (interrupt_before !== undefined || interrupt_after !== undefined) return {};
  const flags = Object.entries(rest)
    .filter(([, value]) => value !== undefined && value !== null)
    .flatMap(([name, value]) => [FLAGS[name] ?? name, JSON.stringify(value)]);
  const resume = command ? ["--resume", JSON.stringify(command.resume)] : [];
  const where = thread === undefined ? [] : ["--thread", thread];
  return { cli: ["run", graph, ...where, ...flags, ...resume] };
}
