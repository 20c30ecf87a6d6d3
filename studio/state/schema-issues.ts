/** Errors of schema libraries, whose message is a JSON list of paths and messages. */
import { isRecord } from "../../src/models/json.js";

/** The issues by path; none if the error is another one. A graph validates its own schemas when the run starts. */
export function schemaIssues(message: string | undefined): [string, string][] {
  if (!message?.trimStart().startsWith("[")) return [];
  try {
    const issues = JSON.parse(message) as unknown;
    if (!Array.isArray(issues)) return [];
    return issues
      .filter((issue): issue is { path: unknown[]; message: string } => {
        return isRecord(issue) && Array.isArray(issue.path) && typeof issue.message === "string";
      })
      .map(({ path, message: text }) => [JSON.stringify(path), text]);
  } catch {
    return [];
  }
}

/** The error of a run as text: one line per schema issue; other errors are unchanged. */
export function failureText(error: string): string {
  const issues = schemaIssues(error).map(([path, text]) => [pathText(path), text].filter(Boolean).join(": "));
  return issues.length > 0 ? issues.join("\n") : error;
}

const pathText = (path: string): string => (JSON.parse(path) as unknown[]).join(".");
