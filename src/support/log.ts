import { tryOr, causesOf, errorMessage, errorName, LONGEST_MESSAGE } from "./errors.js";

/** What the service needs of a logger: pino fits as it is. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/**
 * The same logger, for errors that graphs threw: loggers read the stacks of all causes and every field, and an error may
 * throw when it is looked at or have causes without end. Of one that cannot be logged its words are. Never throws.
 */
export function safeLogger(logger: Logger): Logger {
  const at = (level: keyof Logger) => (fields: object, message: string) => {
    const { err } = fields as { err?: unknown };
    const worded = () => ({ ...fields, ...(err !== undefined && { err: inWords(err) }) });
    try {
      logger[level](err !== undefined && isExcessive(err) ? worded() : fields, message);
    } catch {
      tryOr(() => logger[level](worded(), message));
    }
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** Whether it is more than an error: no error, of a message too long to be kept, or with causes beyond what is looked at. */
function isExcessive(error: unknown): boolean {
  if (!(error instanceof Error) || error.message.length > LONGEST_MESSAGE) return true;
  return causesOf(causesOf(error).at(-1)).length > 1;
}

function inWords(thrown: unknown): Error {
  const words = new Error(errorMessage(thrown));
  words.name = errorName(thrown);
  words.stack = `${words.name}: ${words.message}`;
  return words;
}
