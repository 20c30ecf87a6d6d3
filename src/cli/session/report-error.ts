/** The format of errors that a command reports. */
import type { SettingOrigin } from "../../config/load.js";
import { isAbsolute, relative } from "node:path";
import { ConfigError, GraphServeError } from "../../support/errors.js";
import type { SourceLocation } from "../../support/errors/codes.js";
import { causesOf, errorMessage } from "../../support/errors/thrown.js";
import { nodePath, type RunFault } from "../../support/run-fault.js";
import { maskPasswords } from "../../support/secrets.js";
import type { StackFrame } from "../../support/stack.js";
import { escapeControl } from "../../view/text.js";
import { withCommandPrefix } from "../terminal/called-as.js";
import type { CliIo } from "../terminal/io.js";
import type { Colors } from "../terminal/print.js";
import { Printer, type PrintFlags } from "../terminal/print.js";

const INTERNAL_EXIT = 70;
const INDENT = " ".repeat(7);

/** Report an error on stderr, or as a JSON document on stdout; returns the exit code. */
export function reportError(error: unknown, io: CliIo, flags: PrintFlags = {}): number {
  const print = new Printer(io, flags);
  const shown = fileError(error) ?? error;
  if (flags.json || flags.jsonl) print.json(errorDocument(shown, io));
  else io.stderr.write(errorText(shown, { colors: print.noteColors, io, verbose: flags.verbose }));
  return shown instanceof GraphServeError ? shown.exitCode : INTERNAL_EXIT;
}

const FIXES: Readonly<Record<string, string>> = {
  EACCES: "make it writable, or use another folder",
  EEXIST: "rename or remove it",
  EISDIR: "name a file, not a folder",
  ENOENT: "create its folder first, or check the path",
  ENOSPC: "free some space on the disk",
  ENOTDIR: "check the path: a part of it is a file, not a folder",
  EPERM: "make it writable, or use another folder",
  EROFS: "use a folder on a disk that is not read-only",
};

/** An error of the file system that the user can fix; undefined for another error. */
function fileError(error: unknown): GraphServeError | undefined {
  if (error instanceof GraphServeError || !(error instanceof Error)) return undefined;
  const { code, path } = error as NodeJS.ErrnoException;
  const hint = FIXES[code ?? ""];
  if (hint === undefined || path === undefined) return undefined;
  return new ConfigError(error.message, { hint, cause: error });
}

/** `{"error": {...}}`; commands in the hint use the name by which the program was called. */
export function errorDocument(error: unknown, io?: CliIo): { error: Record<string, unknown> } {
  const message = maskPasswords(errorMessage(error));
  if (!(error instanceof GraphServeError)) return { error: { code: "internal_error", message } };
  const { code, hint, location, issues } = error;
  return {
    error: {
      code,
      message,
      ...(hint !== undefined && { hint: io ? withCommandPrefix(hint, io) : hint }),
      ...(location && { file: location.file, ...(location.line !== undefined && { line: location.line }) }),
      ...(issues && { details: issues }),
    },
  };
}

interface ErrorTextOptions {
  colors: Colors;
  /** Base folder for displayed paths, and prefix of suggested commands. */
  io: Pick<CliIo, "cwd" | "env" | "program">;
  verbose?: boolean;
}

/** Formats an error: `error  message`, the location with a source excerpt, and `fix  hint`. */
export function errorText(error: unknown, { colors, io, verbose = false }: ErrorTextOptions): string {
  const known = error instanceof GraphServeError ? error : undefined;
  const message = known ? known.message : `internal error of graph-serve: ${errorMessage(error)}`;
  const lines = [`${colors.red("error")}  ${indented(message)}`, ...otherIssues(known)];
  if (known?.location) lines.push(...locationLines(known.location, io.cwd, colors));
  if (verbose) lines.push(colors.dim(INDENT + indented(stackOf(error))));
  const hint = known
    ? known.hint
    : verbose
      ? undefined
      : "run the command again with --verbose for a stack trace, and report this bug";
  if (hint) lines.push(`  ${colors.green("fix")}  ${indented(withCommandPrefix(hint, io))}`);
  return `${lines.join("\n")}\n`;
}

interface FaultTextOptions {
  colors: Colors;
  /** Base folder for displayed paths. */
  cwd: string;
}

/** Context of a run's error. */
interface FaultOf {
  graph?: string;
  run?: string;
}

/** Formats a run's error with its location, node, stack and causes, without a trailing newline. */
export function faultText(
  fault: RunFault,
  { colors, cwd }: FaultTextOptions,
  { graph, run }: FaultOf = {},
): string {
  const node = nodePath(fault);
  const where = [
    ...(node === undefined ? [] : [`node ${node}`]),
    ...(graph === undefined ? [] : [`graph ${graph}`]),
  ].join(" of ");
  const context = [where && `in ${where}`, run && `run ${run}`].filter(Boolean).join(", ");
  const lines = thrownLines(colors.red("error"), fault, context, { colors, cwd });
  for (const part of fault.errors ?? []) lines.push(faultText(part, { colors, cwd }));
  if (fault.cause) lines.push(...causeLines(fault.cause, { colors, cwd }));
  return lines.join("\n");
}

function causeLines(cause: RunFault, options: FaultTextOptions): string[] {
  const lines = thrownLines(options.colors.red("cause"), cause, "", options);
  return cause.cause ? [...lines, ...causeLines(cause.cause, options)] : lines;
}

function thrownLines(
  label: string,
  { name, message, location, stack, folded }: RunFault,
  context: string,
  { colors, cwd }: FaultTextOptions,
): string[] {
  const isLocationOnly = stack.length === 1 && location !== undefined;
  const frames = isLocationOnly ? [] : stack.map((frame) => `at ${frameText(frame, cwd)}`);
  if (folded > 0) frames.push(`and ${folded} library ${folded === 1 ? "frame" : "frames"}`);
  return [
    `${label}  ${indented(`${name}: ${message}`)}`,
    ...(context ? [INDENT + indented(context)] : []),
    ...(location ? locationLines(location, cwd, colors) : []),
    ...frames.map((line) => INDENT + colors.dim(indented(line))),
  ];
}

function frameText({ function: name, file, line, column }: StackFrame, cwd: string): string {
  const place = `${shortPath(file, cwd)}:${line}:${column}`;
  return name === undefined ? place : `${name} (${place})`;
}

/** `file:line:column` in the user's code where a run failed; undefined if no stack contains user code. */
export function faultLocation(fault: RunFault, cwd: string): string | undefined {
  const inner = [...(fault.cause ? [fault.cause] : []), ...(fault.errors ?? [])];
  if (fault.location) return placeText(fault.location, cwd);
  return inner.map((each) => faultLocation(each, cwd)).find((place) => place !== undefined);
}

function otherIssues(error: GraphServeError | undefined): string[] {
  const [, ...others] = error?.issues ?? [];
  return others.map(({ msg }) => `${INDENT}also: ${indented(msg)}`);
}

function locationLines({ file, line, column, frame }: SourceLocation, cwd: string, colors: Colors): string[] {
  const where = placeText({ file, line, column }, cwd);
  return [`   ${colors.dim("at")}  ${indented(where)}`, ...(frame ? [INDENT + indented(frame)] : [])];
}

function placeText({ file, line, column }: SourceLocation, cwd: string): string {
  const path = [shortPath(file, cwd), line, line === undefined ? undefined : column];
  return path.filter((part) => part !== undefined).join(":");
}

const stackOf = (error: unknown): string => causesOf(error).map(ownStack).join("\ncaused by ");

function ownStack(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : errorMessage(error);
}

function indented(text: string): string {
  return escapeControl(maskPasswords(text)).replaceAll("\n", `\n${INDENT}`);
}

/** Short description of where a setting's value came from. */
export function originText({ kind, detail }: SettingOrigin, cwd: string): string {
  if (kind === "file" && detail !== undefined) return shortPath(detail, cwd);
  return detail ?? kind;
}

/** The path relative to `cwd` if the file is inside it, else unchanged, as a URL is. */
export function shortPath(file: string, cwd: string): string {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(file)) return file;
  const path = relative(cwd, file);
  return path === "" || path.startsWith("..") || isAbsolute(path) ? file : path;
}
