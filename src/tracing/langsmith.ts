/** LangSmith's own tracing, which LangChain turns on by variables of the environment. */
import type { Variables } from "./provider.js";

const SWITCHES = ["LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGCHAIN_TRACING"];

/** The variables that turn it on. */
export const langsmithSwitches = (env: Variables): string[] =>
  SWITCHES.filter((name) => /^(true|1)$/i.test(env[name]?.trim() ?? ""));

/** What leaves the machine; undefined if the tracing is off. */
export function langsmithNotice(env: Variables): string | undefined {
  const on = langsmithSwitches(env);
  if (on.length === 0) return undefined;
  return `${on.join(" and ")} is on: inputs and outputs of every run are sent to LangSmith`;
}
