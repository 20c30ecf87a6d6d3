/** Errors that nothing handles: of a promise that nobody awaits, of a timer, of a callback. */
import { errorMessage, errorName, GraphServeError } from "../support/errors.js";
import { currentRun } from "../support/event-loop.js";
import type { CliIo } from "./io.js";
import { errorText } from "./report-error.js";
import type { Session, UnhandledErrors } from "./session.js";

const FAILED_EXIT = 1;

/**
 * Do the work of a command. An error that nothing handles fails the run that caused it; where there is none that goes
 * on, it is shown, and the command fails. `session.unhandled` takes them otherwise.
 */
export async function watchUnhandled(session: Session, work: () => Promise<number>): Promise<number> {
  let isFailed = false;
  const rejection = (error: unknown) => {
    if (currentRun()?.fail(error)) return;
    isFailed = true;
    show(session, error);
  };
  const exception = (error: unknown) => {
    rejection(error);
    // Nobody knows what still waits for what was cut short.
    if (isFailed) process.exit(FAILED_EXIT);
  };
  const stopListening = listen(session.io, {
    rejection: (error) => (session.unhandled?.rejection ?? rejection)(error),
    exception: (error) => (session.unhandled?.exception ?? exception)(error),
  });
  try {
    const exitCode = await work();
    return exitCode === 0 && isFailed ? FAILED_EXIT : exitCode;
  } finally {
    stopListening();
  }
}

function listen(io: CliIo, { rejection, exception }: UnhandledErrors): () => void {
  // Then the process is a test's.
  if (io.signal) return () => undefined;
  process.on("unhandledRejection", rejection).on("uncaughtException", exception);
  return () => {
    process.off("unhandledRejection", rejection).off("uncaughtException", exception);
  };
}

function show({ io, print }: Session, error: unknown): void {
  const fault = new GraphServeError(
    "run_failed",
    `nothing handled an error\n${errorName(error)}: ${errorMessage(error)}`,
    { cause: error },
  );
  io.stderr.write(errorText(fault, { colors: print.noteColors, cwd: io.cwd, verbose: print.flags.verbose }));
}
