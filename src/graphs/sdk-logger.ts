/** Makes the server's logger available to graphs through `getLogger()` of @langchain/langgraph-sdk/logging. */
import { getConfig } from "@langchain/langgraph";
import { errorMessage } from "../support/errors/thrown.js";
import type { Logger } from "../support/log.js";
import { isRecord, type JsonObject } from "../models/common.js";

/** Global key under which the SDK looks up the logger. */
const PLACE = Symbol.for("langgraph.api.sdk-logger");
const place = globalThis as { [PLACE]?: unknown };

/** Log levels of the SDK, with the server's level for each. */
const LEVELS = {
  error: "error",
  warn: "warn",
  help: "info",
  data: "info",
  info: "info",
  prompt: "info",
  http: "info",
  input: "info",
  debug: "debug",
  verbose: "debug",
  silly: "debug",
} as const satisfies Record<string, keyof Logger>;

type SdkLogger = Record<keyof typeof LEVELS, (message: unknown, ...meta: unknown[]) => SdkLogger>;

/** Loggers set by this module. A logger set by another program is not replaced. */
const provided = new WeakSet<object>();

/**
 * Make `logger` available to graphs, also while their modules are evaluated. A process has one such logger: the one set
 * last. Returns a function that removes it.
 */
export function provideSdkLogger(logger: Logger): () => void {
  const before = place[PLACE];
  if (typeof before === "object" && before !== null && !provided.has(before)) return () => undefined;
  const own = sdkLogger(logger);
  provided.add(own);
  place[PLACE] = own;
  return () => {
    if (place[PLACE] === own) delete place[PLACE];
  };
}

function sdkLogger(logger: Logger): SdkLogger {
  const own = {} as SdkLogger;
  for (const [name, level] of Object.entries(LEVELS) as [keyof SdkLogger, keyof Logger][]) {
    own[name] = (message, ...meta) => {
      logger[level]({ ...fieldsOf([message, ...meta]), ...whereabouts() }, textOf(message));
      return own;
    };
  }
  return own;
}

function textOf(message: unknown): string {
  if (isRecord(message) && !(message instanceof Error)) {
    return typeof message.message === "string" ? message.message : "";
  }
  return errorMessage(message);
}

/** Log fields from the arguments: the fields of objects, errors, and all other values as `details`. */
function fieldsOf([message, ...meta]: unknown[]): JsonObject {
  const fields: JsonObject = {};
  const others = meta.filter((item) => !isRecord(item));
  for (const item of [message, ...meta].filter(isRecord)) {
    if (item instanceof Error) fields.err = item;
    else Object.assign(fields, item);
  }
  if (isRecord(message)) delete fields.message;
  return { ...fields, ...(others.length > 0 && { details: others }) };
}

/** The current run and node; empty outside of a run. */
function whereabouts(): JsonObject {
  const { run_id, langgraph_node } = (getConfig() as { metadata?: JsonObject } | undefined)?.metadata ?? {};
  return {
    ...(typeof run_id === "string" && { run_id }),
    ...(typeof langgraph_node === "string" && { node: langgraph_node }),
  };
}
