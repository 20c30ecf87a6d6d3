import { isCancel, select } from "@clack/prompts";
import { ConfigError } from "../../errors.js";
import type { Template } from "./choices.js";

/** Ask on the terminal what to start from. */
export async function askTemplate(): Promise<Template> {
  const answer = await select<Template>({
    message: "What do you want to start from?",
    options: [
      { value: "chat", label: "chat", hint: "a conversation that remembers" },
      { value: "agent-tools", label: "agent-tools", hint: "an agent that calls tools" },
      { value: "hitl", label: "hitl", hint: "a graph that asks a human" },
      { value: "minimal", label: "minimal", hint: "the smallest graph" },
    ],
  });
  if (isCancel(answer))
    throw new ConfigError("nothing was made", { hint: "name a template: graph-serve init -t chat" });
  return answer;
}
