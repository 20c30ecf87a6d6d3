import type { Session } from "./session.js";

/** Runs what a command does in the session of its global flags; what it resolves to is the exit code. */
export type Runner = (
  command: { optsWithGlobals(): object },
  implementation: (session: Session) => Promise<number>,
) => Promise<void>;

/** The end of a command's help. */
export function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}\n`;
}
