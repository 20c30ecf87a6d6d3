import type { Settings } from "../../config/settings.js";
import type { Logger } from "../../log.js";
import { escapeControl } from "../escape.js";
import type { Printer } from "../print.js";

const LEVELS = ["debug", "info", "warn", "error", "silent"] as const;

/** A logger for people: one short line a message, a request in one line. */
export function createConsoleLogger(print: Printer, level: Settings["log_level"]): Logger {
  const at = (name: (typeof LEVELS)[number]) => {
    if (LEVELS.indexOf(name) < LEVELS.indexOf(level)) return () => undefined;
    return (fields: object, message: string) => print.note(escapeControl(lineOf(name, fields, message)));
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

function lineOf(level: string, fields: object, message: string): string {
  if (message === "request") return requestLine(fields as RequestFields);
  const parts = Object.entries(fields).map(([key, value]) => `${key}=${textOf(value)}`);
  return [level.padEnd(5), message, ...parts].join(" ");
}

interface RequestFields {
  method: string;
  path: string;
  status: number;
  ms: number;
  aborted?: boolean;
}

function requestLine({ method, path, status, ms, aborted }: RequestFields): string {
  return `  ${method.padEnd(6)} ${path}  ${status}  ${Math.round(ms)} ms${aborted ? "  (client gone)" : ""}`;
}

function textOf(value: unknown): string {
  if (value instanceof Error) return value.message;
  return typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
}
