/** What differs between the releases of LangGraph that the tests run with; see scripts/test-newest.mjs. */
import { createRequire } from "node:module";

const { version } = createRequire(import.meta.url)("@langchain/langgraph/package.json") as {
  version: string;
};
const [major = 0, minor = 0] = version.split(".").map(Number);
const isAtLeast = (wanted: number): boolean => major > 1 || minor >= wanted;

/** The event of a message that the task at this path made is named by the task, or by the graph that it ran in. */
export function messagesEvent(...path: string[]): string {
  return ["messages", ...(isAtLeast(7) ? path.slice(0, -1) : path)].join("|");
}

/** Whether RemoteGraph, as a node, hands on what graphs inside of the remote one stream. */
export const REMOTE_HANDS_ON_SUBGRAPHS = isAtLeast(7);

/** Whether tokens of graphs inside are left out for clients that do not ask for subgraphs. */
export const INNER_TOKENS_ARE_LEFT_OUT = isAtLeast(7);
