/** Answers that LangGraph takes for no answer: `false`, `0`, `""`, `null`, `{}`. */
import { Command } from "@langchain/langgraph";
import type { BoundGraph } from "../graphs/registry.js";
import { openInterrupts } from "../graphs/snapshot.js";
import { isRecord, type JsonObject } from "../models/common.js";

const isEmpty = (answer: unknown): boolean =>
  !answer || (isRecord(answer) && Object.keys(answer).length === 0);

const isCommand = (input: unknown): input is Command<unknown, JsonObject> => input instanceof Command;

/**
 * The input with an empty-looking answer addressed to the thread's one open interrupt: by id LangGraph takes any
 * value, while a bare falsy one counts as no resume at all. Other input is returned as it is.
 */
export async function addressedResume(
  { graph }: BoundGraph,
  input: unknown,
  configurable: JsonObject,
): Promise<unknown> {
  if (!isCommand(input) || input.resume === undefined || !isEmpty(input.resume)) return input;
  const snapshot = await graph.getState({ configurable });
  const [interrupt, ...others] = Object.values(openInterrupts(snapshot)).flat();
  if (!interrupt || others.length > 0) return input;
  const { update, goto, resume } = input;
  return new Command({ update, goto, resume: { [interrupt.id]: resume } });
}
