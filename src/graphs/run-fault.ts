/** Converts an error of a run to the stored RunFault for the graph's developer: node, location, stack and causes. */
import { codeFrame } from "../support/code-frame.js";
import { GraphServeError } from "../support/errors.js";
import type { SourceLocation } from "../support/errors/codes.js";
import { tryOr, errorMessage, errorName } from "../support/errors/thrown.js";
import type { RunFault } from "../support/run-fault.js";
import { parseStackLine, isUserCode, type StackFrame } from "../support/stack.js";
import { type FailedTask, likelyFailedTask, markedTask } from "./failed-tasks.js";
import { isAsLoaded } from "./module-loader.js";
import { sourcePosition, sourceText } from "./source-positions.js";
import { thrownMessage } from "./thrown.js";

/** Maximum number of errors in one fault, including causes and the parts of an AggregateError. */
const MAX_ERRORS = 10;
/** Maximum length of the message of a cause. */
const MAX_CAUSE_LENGTH = 1_000;

/**
 * Describe an error with its causes and parts. Never rejects.
 * @param tasks the failed tasks, which determine the node
 */
export async function runFault(thrown: unknown, tasks: readonly FailedTask[] = []): Promise<RunFault> {
  const message = tryOr(() => thrownMessage(thrown)) ?? errorMessage(thrown);
  try {
    const task = markedTask(thrown, tasks) ?? likelyFailedTask(thrown, tasks);
    return { ...(await describe(thrown, task, { tasks, seen: new Set() })), message };
  } catch {
    return { name: errorName(thrown), message, stack: [], folded: 0 };
  }
}

interface Walk {
  tasks: readonly FailedTask[];
  /** Errors already described: causes may be circular. */
  seen: Set<unknown>;
}

async function describe(thrown: unknown, task: FailedTask | undefined, walk: Walk): Promise<RunFault> {
  const { seen } = walk;
  seen.add(thrown);
  const { own, others } = framesOf(thrown);
  const stack =
    own.length > 0 ? await Promise.all(own.map(sourceFrame)) : others.slice(0, MAX_LIBRARY_FRAMES);
  const location = (own.length > 0 ? locate(stack[0]) : undefined) ?? knownLocation(thrown);
  const cause = await inner(
    tryOr(() => (thrown as { cause?: unknown }).cause),
    walk,
  );
  const errors: RunFault[] = [];
  for (const part of partsOf(thrown)) {
    const error = await inner(part, walk);
    if (error) errors.push(error);
  }
  return {
    name: errorName(thrown),
    message: thrownMessage(thrown).slice(0, MAX_CAUSE_LENGTH),
    ...(task && { node: task.node, ...(task.namespace && { namespace: task.namespace }) }),
    ...(location && { location }),
    stack,
    folded: own.length > 0 ? others.length : others.length - stack.length,
    ...(cause && { cause }),
    ...(errors.length > 0 && { errors }),
  };
}

/** Describe a cause or part; undefined if it was already described or the limit is reached. */
async function inner(thrown: unknown, walk: Walk): Promise<RunFault | undefined> {
  const { tasks, seen } = walk;
  if (thrown == null || seen.has(thrown) || seen.size >= MAX_ERRORS) return undefined;
  return describe(thrown, markedTask(thrown, tasks), walk);
}

/** The errors of an AggregateError. */
function partsOf(thrown: unknown): unknown[] {
  const errors = tryOr(() => (thrown as { errors?: unknown }).errors);
  const isAggregate = tryOr(() => thrown instanceof Error && Array.isArray(errors));
  return isAggregate ? (tryOr(() => (errors as unknown[]).slice(0, MAX_ERRORS)) ?? []) : [];
}

// The stack: frames of the user's code, and of libraries.

const MAX_STACK_LENGTH = 50_000;
const MAX_ROW_LENGTH = 2_000;
const MAX_USER_FRAMES = 10;
/** Maximum number of library frames, kept only if the stack has no user code. */
const MAX_LIBRARY_FRAMES = 3;

/** LangGraph's frame for a node's function. The first group is the function's own name, if it has one. */
const NODE_FUNCTION = /^RunnableCallable\.(?:(\S+) \[as func\]|func)$/;

function framesOf(thrown: unknown): { own: StackFrame[]; others: StackFrame[] } {
  const rows = stackRows(thrown);
  const frames = rows.flatMap((row) => parseStackLine(row) ?? []).map(named);
  const own = frames.filter(isUserCode);
  return { own: own.slice(0, MAX_USER_FRAMES), others: frames.filter((frame) => !isUserCode(frame)) };
}

/** The lines of the stack without the message, which may contain lines that look like frames. */
function stackRows(thrown: unknown): string[] {
  const stack = tryOr(() => (thrown as { stack?: unknown }).stack);
  if (typeof stack !== "string") return [];
  const message = tryOr(() => (thrown as { message?: unknown }).message);
  const head = typeof message === "string" && message !== "" ? stack.indexOf(message) : -1;
  const start = head < 0 ? 0 : head + (message as string).length;
  return stack
    .slice(start, start + MAX_STACK_LENGTH)
    .split("\n")
    .filter((row) => row.length <= MAX_ROW_LENGTH);
}

/** Replaces LangGraph's wrapper with the user's own name for a node's function. */
function named({ function: called, ...place }: StackFrame): StackFrame {
  const wrapped = called === undefined ? null : NODE_FUNCTION.exec(called);
  const name = wrapped ? wrapped[1] : called;
  return { ...(name !== undefined && { function: name }), ...place };
}

async function sourceFrame(frame: StackFrame): Promise<StackFrame> {
  return { ...frame, ...(await sourcePosition(frame)) };
}

/** The location, without a code frame if the file has changed since it was loaded. */
function locate(frame: StackFrame | undefined): SourceLocation | undefined {
  if (!frame) return undefined;
  const { file, line, column } = frame;
  const lines = isAsLoaded(file) ? codeFrame(sourceText(file), line, column) : "";
  return { file, line, column, ...(lines && { frame: lines }) };
}

/** A GraphServeError may have the location of an error in a graph file. */
const knownLocation = (thrown: unknown): SourceLocation | undefined =>
  tryOr(() => (thrown instanceof GraphServeError ? thrown.location : undefined));
