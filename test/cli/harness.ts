/** Runs the command line in this process: takes arguments, returns the exit code and captured streams. */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { Readable } from "node:stream";
import type { Input, Output } from "../../src/cli/terminal/io.js";
import { main } from "../../src/cli/main.js";

export class Capture implements Output {
  text = "";
  readonly isTTY: boolean;
  readonly columns: number;
  #waiting: (() => void)[] = [];

  constructor(isTTY = false, columns = 80) {
    this.isTTY = isTTY;
    this.columns = columns;
  }

  write(text: string): boolean {
    this.text += text;
    for (const wake of this.#waiting.splice(0)) wake();
    return true;
  }

  /** Resolves when the text after `offset` matches. */
  async until(pattern: RegExp, offset = 0): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.text.slice(offset));
      if (match) return match;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }
}

export interface CliOptions {
  cwd?: string;
  stdin?: string;
  env?: Record<string, string>;
  isTTY?: boolean;
  /** Width of the terminal in columns. */
  columns?: number;
}

export interface RunningCli {
  stdout: Capture;
  stderr: Capture;
  stdin: Input & { push(chunk: string | null): boolean };
  /** Sends a signal to the command. */
  stop(signal?: string): void;
  exit: Promise<number>;
}

/** Starts a command that runs until it is stopped. */
export function startCli(
  argv: string[],
  { cwd, stdin, env, isTTY = false, columns }: CliOptions = {},
): RunningCli {
  const stdout = new Capture(isTTY, columns);
  const stderr = new Capture(isTTY);
  const input = Object.assign(new Readable({ read: () => undefined }), {
    isTTY,
    setRawMode: () => undefined,
  });
  if (stdin !== undefined) {
    input.push(stdin);
    input.push(null);
  }
  const controller = new AbortController();
  const io = {
    stdout,
    stderr,
    stdin: input,
    env: env ?? {},
    cwd: cwd ?? process.cwd(),
    signal: controller.signal,
  };
  return {
    stdout,
    stderr,
    stdin: input,
    stop: (signal = "SIGTERM") => controller.abort(signal),
    exit: main(argv, io),
  };
}

export interface CliResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a command to completion. */
export async function cli(argv: string[], options: CliOptions = {}): Promise<CliResult> {
  const { exit, stdout, stderr } = startCli(argv, options);
  return { code: await exit, stdout: stdout.text, stderr: stderr.text };
}

/** Strings and bytes are written unchanged, anything else as JSON. */
type Content = string | Uint8Array | object;

export interface Project {
  dir: string;
  put(name: string, content: Content): Promise<string>;
  remove(): Promise<void>;
}

/** Creates a temporary folder in which graphs resolve the packages of this checkout. */
export async function createProject(files: Record<string, Content> = {}): Promise<Project> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), "graph-serve-cli-")));
  await symlink(join(process.cwd(), "node_modules"), join(dir, "node_modules"), "junction");
  const put = async (name: string, content: Content): Promise<string> => {
    const file = join(dir, name);
    await mkdir(dirname(file), { recursive: true });
    const isWhole = typeof content === "string" || content instanceof Uint8Array;
    await writeFile(file, isWhole ? content : JSON.stringify(content, null, 2));
    return file;
  };
  for (const [name, content] of Object.entries(files)) await put(name, content);
  const remove = async (): Promise<void> => {
    const stored = existsSync(join(dir, ".graph-serve/dev.db"));
    await rm(dir, { recursive: true, force: true });
    if (stored && process.env.MARKS_SQLITE === "true") await assertMarked();
  };
  return { dir, put, remove };
}

/** Without a driver of SQLite, commands fail or run in memory, and such a test with them. */
async function assertMarked(): Promise<void> {
  // Imported here, because processes outside of Vitest also load this file.
  const { expect } = await import("vitest");
  const { testPath } = expect.getState();
  if (testPath === undefined || (await readFile(testPath, "utf8")).includes("with-sqlite.js")) return;
  throw new Error(
    "a command stored threads in SQLite: declare tests that need them with itSqlite of test/helpers/with-sqlite.ts, " +
      "and pass --db memory in all others",
  );
}

/** Projects with the same threads: `fill` runs on the first project, the others are copies of it. */
export function projectsWith<Details>(
  files: Record<string, Content>,
  fill: (project: Project) => Promise<Details>,
): () => Promise<{ project: Project; details: Details }> {
  const makeFirst = async () => {
    const project = await createProject(files);
    try {
      const details = await fill(project);
      return { details, files: await readProject(project) };
    } finally {
      await project.remove();
    }
  };
  let first: ReturnType<typeof makeFirst> | undefined;
  return async () => {
    const { details, files } = await (first ??= makeFirst());
    return { project: await createProject(files), details };
  };
}

async function readProject({ dir }: Project): Promise<Record<string, Uint8Array>> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    await Promise.all(paths.map(async (path) => [relative(dir, path), await readFile(path)] as const)),
  );
}

/** A graph that echoes the last message with a prefix. */
export const echoGraph = (prefix = "echo"): string => `
import { AIMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("reply", (state) => ({
    messages: [new AIMessage("${prefix}: " + String(state.messages.at(-1)?.content))],
  }))
  .addEdge(START, "reply")
  .addEdge("reply", END)
  .compile();
`;

/** A graph that interrupts with a question first. */
export const askingGraph = `
import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ topic: Annotation<string>, answer: Annotation<string> });
export const graph = new StateGraph(State)
  .addNode("ask", (state) => ({ answer: String(interrupt({ question: "about " + state.topic + "?" })) }))
  .addEdge(START, "ask")
  .addEdge("ask", END)
  .compile();
`;

export const failingGraph = `
import { Annotation, START, StateGraph } from "@langchain/langgraph";

export const graph = new StateGraph(Annotation.Root({ n: Annotation<number> }))
  .addNode("burst", () => {
    throw new RangeError("kaboom");
  })
  .addEdge(START, "burst")
  .compile();
`;
