/** Differences between the LangGraph releases in the test matrix; see scripts/test-newest.mjs. */
import { createRequire } from "node:module";

const { version } = createRequire(import.meta.url)("@langchain/langgraph/package.json") as {
  version: string;
};
const [major = 0, minor = 0] = version.split(".").map(Number);
const isAtLeast = (wanted: number): boolean => major > 1 || minor >= wanted;

/**
 * The namespace of a message event ends with the task that made it, or with the graph that contains it,
 * depending on the release.
 */
export function messagesEvent(...path: string[]): string {
  return ["messages", ...(isAtLeast(7) ? path.slice(0, -1) : path)].join("|");
}

/** Whether RemoteGraph as a node forwards streams of remote subgraphs. */
export const REMOTE_HANDS_ON_SUBGRAPHS = isAtLeast(7);

/** Whether tokens of subgraphs are omitted for clients that do not request subgraphs. */
export const INNER_TOKENS_ARE_LEFT_OUT = isAtLeast(7);
