import {
  AIMessage,
  AIMessageChunk,
  HumanMessage,
  RemoveMessage,
  ToolMessage,
} from "@langchain/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { messageTupleJson, toJson, toWire } from "../../src/graphs/serialize.js";
import { UnserializableError } from "../../src/support/unserializable.js";
import { renewing, nested, oddValues } from "../helpers/odd-values.js";

describe("toWire", () => {
  it("returns JSON data unchanged", () => {
    const state = { a: [1, { b: null }], c: "text" };
    expect(toWire(state)).toBe(state);
  });

  it("flattens a message next to its type", () => {
    expect(toWire({ messages: [new HumanMessage({ content: "hi", id: "h1" })] })).toEqual({
      messages: [{ content: "hi", additional_kwargs: {}, response_metadata: {}, id: "h1", type: "human" }],
    });
  });

  it("agrees with the library's own conversion", () => {
    const messages = [
      new HumanMessage({ content: [{ type: "text", text: "see" }], id: "1", name: "ann" }),
      new AIMessage({
        content: "x",
        id: "2",
        tool_calls: [{ name: "add", args: { a: 1 }, id: "t" }],
        usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
        response_metadata: { model_name: "m" },
      }),
      new AIMessageChunk({
        content: "x",
        id: "3",
        tool_call_chunks: [{ name: "add", args: "{", id: "t", index: 0 }],
      }),
      new ToolMessage({
        content: "3",
        tool_call_id: "t",
        status: "success",
        artifact: { raw: 3 },
        metadata: { source: "mcp" },
      }),
      new RemoveMessage({ id: "2" }),
    ];
    for (const message of messages) {
      const { type, data } = message.toDict();
      expect(toWire(message)).toMatchObject(JSON.parse(JSON.stringify({ ...data, type })) as object);
    }
  });

  it("keeps content blocks and usage unchanged", () => {
    const content = [{ type: "image_url", image_url: { url: "data:image/png;base64,AA==" } }];
    const usage_metadata = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
    expect(toWire(new AIMessage({ content, usage_metadata }))).toMatchObject({ content, usage_metadata });
  });

  it("does not modify its input", () => {
    const message = new HumanMessage("hi");
    const state = { messages: [message], nested: { list: [message] } };
    toWire(state);
    expect(state.messages[0]).toBe(message);
    expect(state.nested.list[0]).toBe(message);
  });

  it("converts unusual values to JSON", () => {
    const odd = {
      error: new RangeError("bad"),
      date: new Date(0),
      big: 12n,
      map: new Map([["k", 1]]),
      set: new Set([1]),
      bytes: new Uint8Array([1, 2]),
      none: undefined,
      call: () => 1,
    };
    expect(JSON.parse(toJson(odd))).toEqual({
      error: { error: "RangeError", message: "bad" },
      date: "1970-01-01T00:00:00.000Z",
      big: "12",
      map: { k: 1 },
      set: [1],
      bytes: "AQI=",
    });
  });

  it("cuts a cycle instead of failing", () => {
    const loop: Record<string, unknown> = { name: "loop" };
    loop.self = loop;
    loop.list = [loop];
    expect(toWire(loop)).toEqual({ name: "loop", self: "[circular]", list: ["[circular]"] });
  });

  it("repeats a shared object", () => {
    const shared = { at: new Date(0) };
    expect(toWire({ a: shared, b: shared })).toEqual({
      a: { at: "1970-01-01T00:00:00.000Z" },
      b: { at: "1970-01-01T00:00:00.000Z" },
    });
  });

  it("keeps a key named __proto__ as data", () => {
    const data = JSON.parse('{"__proto__": {"at": 1}, "when": 1}') as Record<string, unknown>;
    data.when = new Date(0);
    expect(toJson(data)).toBe('{"__proto__":{"at":1},"when":"1970-01-01T00:00:00.000Z"}');
  });
});

describe("values that cannot be serialized", () => {
  it("are always converted in a thread's state", () => {
    fc.assert(
      fc.property(oddValues, ({ make }) => {
        const text = JSON.stringify({ value: toWire(make()) });
        expect(JSON.parse(text)).toBeInstanceOf(Object);
      }),
      { numRuns: 500 },
    );
  });

  it("are converted in a stream, or rejected with their path", () => {
    fc.assert(
      fc.property(oddValues, ({ make }) => {
        try {
          JSON.parse(toJson(make(), "updates"));
        } catch (error) {
          expect(error).toBeInstanceOf(UnserializableError);
          expect((error as Error).message).toMatch(/^the output of the run cannot be sent: updates\S* \S/);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("are replaced in a thread's state by the reason", () => {
    const fail = () => {
      throw new Error("no");
    };
    expect(toWire({ a: 1, b: [{ toJSON: fail }] })).toEqual({ a: 1, b: ["[unreadable: no]"] });
    expect(JSON.stringify(toWire(nested(2000)))).toMatch(
      /^(\{"a":)+"\[unreadable: nested more than 500 deep\]"\}+$/,
    );
  });

  it("are converted with a single toJSON call, even if its result has another toJSON", () => {
    expect(toJson({ value: renewing() })).toBe('{"value":{}}');
    const self = { a: 1n, toJSON: () => self };
    expect(toJson(self)).toBe('{"a":"1"}');
    expect(toJson({ toJSON: () => [new Date(0)] })).toBe('["1970-01-01T00:00:00.000Z"]');
  });
});

describe("messageTupleJson", () => {
  const joined = (json: ReturnType<typeof messageTupleJson>) =>
    typeof json === "string" ? json : json.head + json.tail;

  it("equals the plain conversion, with cached metadata", () => {
    const metadata = { langgraph_node: "model", tags: ["a"] };
    const chunk = new AIMessageChunk({ content: "a", id: "1" });
    const plain = toJson([chunk, metadata]);
    for (let time = 0; time < 3; time += 1) expect(joined(messageTupleJson(chunk, metadata))).toBe(plain);
    expect(joined(messageTupleJson(chunk, null))).toBe(toJson([chunk, null]));
  });

  it("equals it for any sequence of messages with the same metadata, and shares what their chunks end with", () => {
    const metadata = { langgraph_node: "model" };
    const ending = ',"additional_kwargs":{},"response_metadata":{}';
    const messages = [
      ...["a", "b", "", ending, '\\"', "\u2028 ü", "c", "d"].map(
        (content) => new AIMessageChunk({ content, id: "1" }),
      ),
      new AIMessageChunk({ content: [{ type: "text", text: "x", additional_kwargs: {} }], id: "1" }),
      new AIMessageChunk({
        content: "e",
        id: "2",
        usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
      }),
      "no message",
      null,
      new AIMessageChunk({ content: "f", id: "1" }),
      new AIMessageChunk({ content: "g", id: "1" }),
    ];
    const tails = messages.map((message) => {
      const json = messageTupleJson(message, metadata);
      expect(joined(json)).toBe(toJson([message, metadata]));
      return typeof json === "string" ? json : json.tail;
    });
    expect(new Set(tails.slice(1, 8))).toHaveProperty("size", 1);
    expect(tails[1]?.length).toBeGreaterThan(ending.length + 20);
  });
});
