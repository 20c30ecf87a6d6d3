/** What a model or a tool is asked, as recordings keep and compare it. */
import type { BaseMessage } from "@langchain/core/messages";
import { isRecord, type JsonObject } from "../../models/common.js";
import { steady } from "../steady.js";

/** Messages and the names of the tools at hand. Ids are new in every run, so they are left out. */
export function askedOfModel(messages: readonly BaseMessage[], options: unknown): JsonObject {
  const tools = isRecord(options) && Array.isArray(options.tools) ? options.tools.map(toolName) : [];
  return plain({
    messages: messages.map((message) => {
      const { tool_calls, name } = message as unknown as { tool_calls?: JsonObject[]; name?: string };
      return {
        type: message.getType(),
        ...(name !== undefined && { name }),
        content: message.content,
        ...(tool_calls?.length && {
          tool_calls: tool_calls.map((call) => ({ name: call.name, args: call.args })),
        }),
      };
    }),
    ...(tools.length > 0 && { tools }),
  });
}

function toolName(tool: unknown): string {
  if (!isRecord(tool)) return String(tool);
  const { name, function: inner } = tool;
  if (typeof name === "string") return name;
  if (isRecord(inner) && typeof inner.name === "string") return inner.name;
  return typeof tool.type === "string" ? tool.type : "tool";
}

/** The arguments of a tool. */
export function askedOfTool(args: unknown): JsonObject {
  return plain({ args: args ?? null });
}

/** Two questions of the same key are the same, whatever ids and times they hold. */
export function askedKey(name: string, asked: JsonObject): string {
  return JSON.stringify([name, steady(asked)]);
}

const plain = (value: JsonObject): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject;
