import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { Command, Send } from "@langchain/langgraph";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InvalidRequestError } from "../../src/support/errors.js";
import {
  assertPlainData,
  coerceCommand,
  coerceConfigurable,
  coerceMessages,
  coerceValues,
} from "../../src/graphs/coerce.js";

const LOC = ["body", "input"];
const texts = (messages: unknown) =>
  coerceMessages(messages, LOC).map((message) => [message.getType(), message.content]);

describe("coerceMessages", () => {
  it.each([
    [[{ role: "user", content: "a" }], [["human", "a"]]],
    [[{ role: "assistant", content: "a" }], [["ai", "a"]]],
    [[{ type: "human", content: "a" }], [["human", "a"]]],
    [[{ type: "system", content: "a" }], [["system", "a"]]],
    [[{ type: "AIMessageChunk", content: "a" }], [["ai", "a"]]],
    [[{ type: "HumanMessage", content: "a" }], [["human", "a"]]],
    [[{ type: "ai", data: { content: "a" } }], [["ai", "a"]]],
    [[["human", "a"]], [["human", "a"]]],
    [["human", "a"], [["human", "a"]]],
    ["a", [["human", "a"]]],
    [{ role: "user", content: "a" }, [["human", "a"]]],
    [[{ role: "tool", content: "a", tool_call_id: "t" }], [["tool", "a"]]],
    [
      [
        {
          lc: 1,
          type: "constructor",
          id: ["langchain_core", "messages", "HumanMessage"],
          kwargs: { content: "a" },
        },
      ],
      [["human", "a"]],
    ],
  ])("converts %j", (input, expected) => {
    expect(texts(input)).toEqual(expected);
  });

  it("keeps ids and tool calls", () => {
    const [message] = coerceMessages(
      [{ type: "ai", id: "x", content: "", tool_calls: [{ name: "f", args: { a: 1 }, id: "t" }] }],
      LOC,
    );
    expect(message).toMatchObject({ id: "x", tool_calls: [{ name: "f", args: { a: 1 }, id: "t" }] });
  });

  it("assigns an id to every message", () => {
    const [message] = coerceMessages(["hi"], LOC);
    expect(message?.id).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("passes message objects through", () => {
    const message = new AIMessage({ content: "a", id: "1" });
    expect(coerceMessages([message], LOC)[0]).toBe(message);
  });

  it.each([
    [[{ type: "alien", content: "a" }]],
    [[{ content: "no role" }]],
    [[5]],
    [[null]],
    [[{ role: "user", content: 5 }]],
    [[{ role: "user", content: "a", additional_kwargs: "x" }]],
    [[{ role: "tool", content: "a" }]],
    [[{ lc: 1, type: "constructor", id: ["child_process", "exec"], kwargs: {} }]],
    [[{ role: "user", content: [{ lc: 1, type: "constructor", id: ["x"], kwargs: {} }] }]],
    [
      [
        {
          lc: 1,
          type: "constructor",
          id: ["HumanMessage"],
          kwargs: { content: "a", extra: { lc: 1, id: [] } },
        },
      ],
    ],
  ])("rejects %j with its path", (input) => {
    expect(() => coerceMessages(input, LOC)).toThrow(InvalidRequestError);
    expect(() => coerceMessages(input, LOC)).toThrow(/^body\.input\.0/);
  });
});

describe("coerceValues", () => {
  it("converts messages and leaves other values unchanged", () => {
    const values = coerceValues({ messages: "hi", topic: { a: 1 } }, LOC) as {
      messages: unknown[];
      topic: unknown;
    };
    expect(values.messages[0]).toBeInstanceOf(HumanMessage);
    expect(values.topic).toEqual({ a: 1 });
  });

  it.each([[null], [5], ["text"], [[1, 2]], [{ topic: "cats" }]])("returns %j unchanged", (value) => {
    expect(coerceValues(value, LOC)).toBe(value);
  });

  it.each([
    [{ x: { lc: 1, type: "constructor", id: ["a"] } }],
    [{ deep: [{ lc: 2 }] }],
    [{ __lc_escaped__: { lc: 1 } }],
    [{ like_a_message: { lc_kwargs: {}, _getType: "human", lc: 1, type: "constructor", id: ["a"] } }],
  ])("rejects the constructor form in %j", (value) => {
    expect(() => coerceValues(value, LOC)).toThrow(/"lc"/);
  });

  it("never accepts a reserved key", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom("lc", "__lc_escaped__"), (value, key) => {
        const hidden = { list: [{ inner: { [key]: value } }] };
        expect(() => assertPlainData(hidden, LOC)).toThrow(InvalidRequestError);
      }),
    );
  });
});

describe("coerceCommand", () => {
  it("returns undefined for an empty command", () => {
    expect(coerceCommand({}, LOC)).toBeUndefined();
    expect(coerceCommand({ update: null, goto: null }, LOC)).toBeUndefined();
    expect(coerceCommand({ update: {}, goto: [] }, LOC)).toBeUndefined();
  });

  it("resumes with any value, including null", () => {
    expect(coerceCommand({ resume: null }, LOC)).toBeInstanceOf(Command);
    expect(coerceCommand({ resume: { a: 1 } }, LOC)?.resume).toEqual({ a: 1 });
  });

  it("converts nodes with input to Send", () => {
    const command = coerceCommand({ goto: ["a", { node: "b", input: { x: 1 } }] }, LOC);
    expect(command?.goto).toEqual(["a", new Send("b", { x: 1 })]);
  });

  it("converts messages in updates, also in pairs", () => {
    const asObject = coerceCommand({ update: { messages: ["hi"] } }, LOC)?.update as { messages: unknown[] };
    expect(asObject.messages[0]).toBeInstanceOf(HumanMessage);
    const asPairs = coerceCommand({ update: [["messages", ["hi"]]] }, LOC)?.update as [string, unknown[]][];
    expect(asPairs[0]?.[1][0]).toBeInstanceOf(HumanMessage);
  });

  it("rejects constructors in a resume value", () => {
    expect(() => coerceCommand({ resume: { lc: 1 } }, LOC)).toThrow(InvalidRequestError);
  });
});

describe("the message rule", () => {
  const written = { messages: ["text", { role: "user", content: "a" }, { role: "admin" }] };
  const typesOf = (values: unknown) =>
    (values as { messages: unknown[] }).messages.map((item) => item instanceof HumanMessage);

  it("applies to values, updates and node input", () => {
    expect(coerceValues(written, LOC, "none")).toBe(written);
    expect(typesOf(coerceValues(written, LOC, "recognised"))).toEqual([false, true, false]);
    const { goto, update } = coerceCommand(
      { update: written, goto: { node: "b", input: written } },
      LOC,
      "recognised",
    ) as { goto: unknown; update: unknown };
    expect(typesOf(update)).toEqual([false, true, false]);
    expect(typesOf(([goto].flat()[0] as Send).args)).toEqual([false, true, false]);
  });

  it.each([
    [{ role: "user", content: "a" }, true],
    [{ type: "ai", content: "", tool_calls: [] }, true],
    [{ type: "AIMessageChunk", content: "a" }, true],
    [{ type: "human", data: { content: "a" } }, true],
    [{ type: "remove", id: "1" }, true],
    [{ type: "image", content: "a" }, false],
    [{ type: "human" }, false],
    [{ role: "user" }, false],
    [["human", "a"], false],
    ["a", false],
    [5, false],
    [null, false],
  ])("recognises %j: %s", (item, isRecognised) => {
    const { messages } = coerceValues({ messages: [item] }, LOC, "recognised") as { messages: unknown[] };
    expect(messages[0] !== item).toBe(isRecognised);
  });

  it("rejects constructors that are not messages", () => {
    const poison = { lc: 1, type: "constructor", id: ["child_process", "exec"], kwargs: {} };
    for (const rule of ["all", "recognised", "none"] as const) {
      for (const messages of [poison, [poison], ["a", poison], [{ role: "x", content: [poison] }]])
        expect(() => coerceValues({ messages }, LOC, rule)).toThrow(InvalidRequestError);
    }
  });
});

describe("coerceConfigurable", () => {
  it("drops keys that only the server sets", () => {
    const configurable = {
      user: "u",
      thread_id: "x",
      run_id: "x",
      graph_id: "x",
      checkpoint_ns: "x",
      __pregel_stream: 1,
    };
    expect(coerceConfigurable(configurable, LOC)).toEqual({ user: "u" });
  });

  it("rejects values that are not objects", () => {
    expect(() => coerceConfigurable([1], LOC)).toThrow(InvalidRequestError);
  });
});
