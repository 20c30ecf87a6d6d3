import { AIMessage, HumanMessage } from "@langchain/core/messages";
import type { LLMResult } from "@langchain/core/outputs";
import { describe, expect, it } from "vitest";
import { RunUsage } from "../../src/graphs/callbacks/usage.js";

const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 };
const result = (message: AIMessage, llmOutput?: object) =>
  ({ generations: [[{ text: "", message }]], llmOutput }) as unknown as LLMResult;

describe("RunUsage", () => {
  it("adds up all model calls", () => {
    const run = new RunUsage();
    run.handleLLMEnd(result(new AIMessage({ content: "", usage_metadata: usage })));
    run.handleLLMEnd(result(new AIMessage({ content: "", usage_metadata: usage })));
    expect(run.total({})).toEqual({
      input_tokens: 2,
      output_tokens: 4,
      total_tokens: 6,
      source: "callbacks",
    });
  });

  it("uses the counts of the complete answer", () => {
    const run = new RunUsage();
    run.handleLLMEnd(
      result(new AIMessage("x"), { tokenUsage: { promptTokens: 4, completionTokens: 6, totalTokens: 10 } }),
    );
    expect(run.total({})).toEqual({
      input_tokens: 4,
      output_tokens: 6,
      total_tokens: 10,
      source: "callbacks",
    });
  });

  it("ignores the state if calls were counted", () => {
    const run = new RunUsage();
    run.handleLLMEnd(result(new AIMessage({ content: "", usage_metadata: usage })));
    const messages = [new AIMessage({ content: "", usage_metadata: usage })];
    expect(run.total({ messages })).toEqual({ ...usage, source: "callbacks" });
  });

  it.each([
    [{ usage_metadata: usage }],
    [
      {
        response_metadata: {
          usage_metadata: { prompt_token_count: 1, candidates_token_count: 2, total_token_count: 3 },
        },
      },
    ],
    [{ response_metadata: { token_usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } } }],
    [{ response_metadata: { tokenUsage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 } } }],
    [{ response_metadata: { usage: { input_tokens: 1, output_tokens: 2 } } }],
  ])("falls back to the messages in the state: %j", (fields) => {
    const messages = [
      new HumanMessage("hi"),
      new AIMessage({ content: "", ...fields }),
      new AIMessage({ content: "", ...fields }),
    ];
    expect(new RunUsage().total({ messages })).toEqual({
      input_tokens: 2,
      output_tokens: 4,
      total_tokens: 6,
      source: "messages",
    });
  });

  it.each([[undefined], [null], [{}], ["text"], [{ messages: "x" }]])("is zero for the state %j", (state) => {
    const none = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };
    expect(new RunUsage().total(state)).toEqual({ ...none, source: "callbacks" });
  });
});
