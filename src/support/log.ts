import { tryOr, causesOf, errorMessage, errorName, LONGEST_MESSAGE } from "./errors/thrown.js";

/**
 * The logger interface that the service uses; pino implements it. `fields` are logged as JSON.
 * @example
 * ```ts
 * import { openService, type Logger } from "graph-serve";
 * import { graph } from "./graph.js";
 *
 * const log = (level: string) => (fields: object, message: string) => console.log(level, message, fields);
 * const logger: Logger = { debug: () => undefined, info: log("info"), warn: log("warn"), error: log("error") };
 * const service = await openService({ graphs: { agent: graph }, logger });
 * await service.close();
 * ```
 */
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
 * Wraps a logger so that it can log errors thrown by graphs. Loggers read the stacks of all causes
 * and every field, but a thrown value may throw when inspected or have cyclic causes. If a value
 * cannot be logged, only its message is. Never throws.
 */
export function safeLogger(logger: Logger): Logger {
  const at = (level: keyof Logger) => (fields: object, message: string) => {
    const { err } = fields as { err?: unknown };
    const asMessage = () => ({ ...fields, ...(err !== undefined && { err: messageOnly(err) }) });
    try {
      logger[level](err !== undefined && isExcessive(err) ? asMessage() : fields, message);
    } catch {
      tryOr(() => logger[level](asMessage(), message));
    }
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** True if the value is not an error, has an overlong message, or has too many causes. */
function isExcessive(error: unknown): boolean {
  if (!(error instanceof Error) || error.message.length > LONGEST_MESSAGE) return true;
  return causesOf(causesOf(error).at(-1)).length > 1;
}

function messageOnly(thrown: unknown): Error {
  const words = new Error(errorMessage(thrown));
  words.name = errorName(thrown);
  words.stack = `${words.name}: ${words.message}`;
  return words;
}
