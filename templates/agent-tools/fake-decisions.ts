import type { BaseMessage } from "@langchain/core/messages";

/** What the fake model does next: call tools, or answer. */
export interface Decision {
  text: string;
  toolCalls: { id: string; name: string; args: Record<string, unknown> }[];
}

const HELP = 'I can calculate, such as 6 * 7, and count words: count the words in "to be or not to be".';

/** Answers if the last messages are tool results; otherwise calls each tool that the question needs. */
export function decide(messages: readonly BaseMessage[]): Decision {
  const results = latestToolResults(messages);
  if (results.length > 0) return { text: `Here you are: ${results.join("; ")}.`, toolCalls: [] };

  const question = messages.at(-1)?.text ?? "";
  const calls = [calculation(question), wordCount(question)].filter((call) => call !== undefined);
  const toolCalls = calls.map((call, index) => ({ id: `call_${messages.length}_${index}`, ...call }));
  return { text: calls.length > 0 ? "Let me see." : HELP, toolCalls };
}

function latestToolResults(messages: readonly BaseMessage[]): string[] {
  const lastOther = messages.findLastIndex((message) => message.type !== "tool");
  return messages.slice(lastOther + 1).map((message) => message.text);
}

function calculation(question: string) {
  const found = /(-?\d+(?:\.\d+)?)\s*([-+*/])\s*(-?\d+(?:\.\d+)?)/.exec(question);
  if (!found) return undefined;
  const [, left, operator, right] = found;
  return { name: "calculator", args: { left: Number(left), operator, right: Number(right) } };
}

function wordCount(question: string) {
  if (!/\bcount\b|how many words/i.test(question)) return undefined;
  return { name: "count_words", args: { text: /"([^"]*)"/.exec(question)?.[1] ?? question } };
}
