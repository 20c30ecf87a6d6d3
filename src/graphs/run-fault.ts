/** What a run threw -> what is kept of it for whoever develops the graph: where it was thrown, in which node, and why. */
import { codeFrame } from "../support/code-frame.js";
import { tryOr, errorMessage, errorName, GraphServeError, type SourceLocation } from "../support/errors.js";
import type { RunFault } from "../support/run-fault.js";
import { parseStackLine, isUserCode, type StackFrame } from "../support/stack.js";
import { type FailedTask, likelyFailedTask, markedTask } from "./failed-tasks.js";
import { isAsLoaded } from "./module-loader.js";
import { sourcePosition, sourceText } from "./source-positions.js";
import { thrownMessage } from "./thrown.js";

/** Thrown things that one fault tells of, causes and parts included. */
const MOST_THROWN = 10;
/** Characters of the message of a cause; that of what was thrown itself is bounded as everywhere. */
const LONGEST_CAUSE = 1_000;

/** What was thrown, with its causes and parts. `tasks` are those that say which node threw. Never rejects. */
export async function runFault(thrown: unknown, tasks: readonly FailedTask[] = []): Promise<RunFault> {
  const message = tryOr(() => thrownMessage(thrown)) ?? errorMessage(thrown);
  try {
    const task = markedTask(thrown, tasks) ?? likelyFailedTask(thrown, tasks);
    return { ...(await describe(thrown, task, { tasks, seen: new Set() })), message };
  } catch {
    return { name: errorName(thrown), message, stack: [], folded: 0 };
  }
}

interface Telling {
  tasks: readonly FailedTask[];
  /** What was told of already: causes may go round in circles. */
  seen: Set<unknown>;
}

async function describe(thrown: unknown, task: FailedTask | undefined, telling: Telling): Promise<RunFault> {
  const { seen } = telling;
  seen.add(thrown);
  const { own, others } = framesOf(thrown);
  const stack = own.length > 0 ? await Promise.all(own.map(sourceFrame)) : others.slice(0, MOST_LIBRARY);
  const location = (own.length > 0 ? locate(stack[0]) : undefined) ?? knownLocation(thrown);
  const cause = await inner(
    tryOr(() => (thrown as { cause?: unknown }).cause),
    telling,
  );
  const errors: RunFault[] = [];
  for (const part of partsOf(thrown)) {
    const error = await inner(part, telling);
    if (error) errors.push(error);
  }
  return {
    name: errorName(thrown),
    message: thrownMessage(thrown).slice(0, LONGEST_CAUSE),
    ...(task && { node: task.node, ...(task.namespace && { namespace: task.namespace }) }),
    ...(location && { location }),
    stack,
    folded: own.length > 0 ? others.length : others.length - stack.length,
    ...(cause && { cause }),
    ...(errors.length > 0 && { errors }),
  };
}

/** What is inside of something else that was thrown; nothing, when it was told of, or enough was. */
async function inner(thrown: unknown, telling: Telling): Promise<RunFault | undefined> {
  const { tasks, seen } = telling;
  if (thrown == null || seen.has(thrown) || seen.size >= MOST_THROWN) return undefined;
  return describe(thrown, markedTask(thrown, tasks), telling);
}

/** What an AggregateError holds. */
function partsOf(thrown: unknown): unknown[] {
  const errors = tryOr(() => (thrown as { errors?: unknown }).errors);
  const isAggregate = tryOr(() => thrown instanceof Error && Array.isArray(errors));
  return isAggregate ? (tryOr(() => (errors as unknown[]).slice(0, MOST_THROWN)) ?? []) : [];
}

// The stack of what was thrown: the user's own code, and that of libraries.

const LONGEST_STACK = 50_000;
const LONGEST_ROW = 2_000;
const MOST_OWN = 10;
/** Frames of libraries that are kept where no code of the user's is in the stack. */
const MOST_LIBRARY = 3;

/** How LangGraph calls the function of a node; its own name is the second one, where it has one. */
const NODE_FUNCTION = /^RunnableCallable\.(?:(\S+) \[as func\]|func)$/;

function framesOf(thrown: unknown): { own: StackFrame[]; others: StackFrame[] } {
  const rows = stackRows(thrown);
  const frames = rows.flatMap((row) => parseStackLine(row) ?? []).map(named);
  const own = frames.filter(isUserCode);
  return { own: own.slice(0, MOST_OWN), others: frames.filter((frame) => !isUserCode(frame)) };
}

/** The rows of the stack without the message, which may look like one. */
function stackRows(thrown: unknown): string[] {
  const stack = tryOr(() => (thrown as { stack?: unknown }).stack);
  if (typeof stack !== "string") return [];
  const message = tryOr(() => (thrown as { message?: unknown }).message);
  const head = typeof message === "string" && message !== "" ? stack.indexOf(message) : -1;
  const start = head < 0 ? 0 : head + (message as string).length;
  return stack
    .slice(start, start + LONGEST_STACK)
    .split("\n")
    .filter((row) => row.length <= LONGEST_ROW);
}

/** By the name that the user gave the function of a node. */
function named({ function: called, ...place }: StackFrame): StackFrame {
  const wrapped = called === undefined ? null : NODE_FUNCTION.exec(called);
  const name = wrapped ? wrapped[1] : called;
  return { ...(name !== undefined && { function: name }), ...place };
}

async function sourceFrame(frame: StackFrame): Promise<StackFrame> {
  return { ...frame, ...(await sourcePosition(frame)) };
}

/** Without lines where the file has changed since it was loaded: they would be others. */
function locate(frame: StackFrame | undefined): SourceLocation | undefined {
  if (!frame) return undefined;
  const { file, line, column } = frame;
  const lines = isAsLoaded(file) ? codeFrame(sourceText(file), line, column) : "";
  return { file, line, column, ...(lines && { frame: lines }) };
}

/** Errors of ours say where a graph file is wrong. */
const knownLocation = (thrown: unknown): SourceLocation | undefined =>
  tryOr(() => (thrown instanceof GraphServeError ? thrown.location : undefined));
