import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { MemorySaver, type SerializerProtocol } from "@langchain/langgraph-checkpoint";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StorageUnavailableError } from "../../src/support/errors.js";
import { verdictOn } from "../../src/storage/saver/scan.js";
import { strictSerializer, textSerializer } from "../../src/storage/saver/serializer.js";
import { UnserializableError } from "../../src/support/unserializable.js";
import { nested, oddValues } from "../helpers/odd-values.js";

/** LangGraph's default serializer. */
const { serde } = new MemorySaver();
const texts = textSerializer(serde);
const strict = strictSerializer(texts);

const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const verdict = (value: unknown) => verdictOn(json(value));
const SOUND = { isDeep: false, isDoubtful: false, hasProto: false };

describe("the strict serializer", () => {
  it("writes the same bytes as LangGraph's serializer for JSON data", async () => {
    const data = fc
      .jsonValue({ maxDepth: 6, noUnicodeString: false })
      .filter((value) => !verdict(value).hasProto);
    await fc.assert(
      fc.asyncProperty(data, async (value) => {
        expect(await strict.dumpsTyped(value)).toEqual(await serde.dumpsTyped(value));
      }),
    );
  });

  it("writes only values that can be read back, and names the path of others", async () => {
    await fc.assert(
      fc.asyncProperty(oddValues, async ({ make }) => {
        const dumped = await strict.dumpsTyped(make()).catch((error: unknown) => error);
        if (!Array.isArray(dumped)) {
          expect(dumped).toBeInstanceOf(UnserializableError);
          expect((dumped as Error).message).toMatch(/^a value cannot be stored: value\S* \S/);
          return;
        }
        const [type, bytes] = dumped as [string, Uint8Array];
        const read: unknown = await strict.loadsTyped(type, bytes);
        const [, own] = await texts.dumpsTyped(make());
        if (!verdictOn(own).hasProto) expect(Buffer.compare(bytes, own)).toBe(0);
        // Serialize once more, as the next checkpoint does.
        const [againType, again] = await strict.dumpsTyped(read);
        await strict.loadsTyped(againType, again);
      }),
      { numRuns: 500 },
    );
  });

  it("reads valid values only once more than LangGraph's serializer", async () => {
    let reads = 0;
    const value = {
      get a() {
        return ++reads;
      },
    };
    await serde.dumpsTyped(value);
    const plain = reads;
    await strict.dumpsTyped(value);
    expect(reads).toBe(2 * plain);
  });

  it("passes all values to a custom serializer, which may encrypt them", async () => {
    const asked: unknown[] = [];
    const own: SerializerProtocol = {
      loadsTyped: (type, data) => serde.loadsTyped(type, data),
      dumpsTyped: (value: unknown) => {
        asked.push(value);
        return serde.dumpsTyped(value);
      },
    };
    const changed = Object.assign(new MemorySaver().serde, own);
    for (const serializer of [own, textSerializer(own), changed])
      await strictSerializer(serializer).dumpsTyped("a");
    expect(asked).toEqual(["a", "a", "a"]);
  });

  it("reads the empty bytes stored for functions", async () => {
    expect(await strict.loadsTyped("json", new Uint8Array())).toBeUndefined();
  });

  it("stores LangGraph's placeholder text for unserializable values", async () => {
    const text = "[unable to serialize, circular reference is too complex to analyze]";
    const [type, bytes] = await strict.dumpsTyped(text);
    expect(await strict.loadsTyped(type, bytes)).toBe(text);
  });

  it("passes on errors unrelated to the value", async () => {
    const full = new StorageUnavailableError("full");
    const inner: SerializerProtocol = { ...serde, dumpsTyped: () => Promise.reject(full) };
    await expect(strictSerializer(inner).dumpsTyped({ a: 1 })).rejects.toBe(full);
  });

  it("drops __proto__ keys and their values", async () => {
    const value: unknown = JSON.parse('{"a": [{"__proto__": {"b": 1}, "c": "__proto__"}]}');
    const [type, bytes] = await strict.dumpsTyped(value);
    expect(await strict.loadsTyped(type, bytes)).toEqual({ a: [{ c: "__proto__" }] });
  });

  it("reports the path of the invalid value", async () => {
    const shared = { fine: true };
    const at = (path: string) => ({ fault: { path } });
    const [list, map] = [{ a: [shared, shared, { b: 1n }] }, new Map([["key", new Set([1n])]])];
    await expect(strict.dumpsTyped(list)).rejects.toMatchObject(at("value.a[2].b"));
    await expect(strict.dumpsTyped(map)).rejects.toMatchObject(at("value.key[0]"));
    const json = { "a b": { toJSON: () => ({ c: 1n }) } };
    await expect(strict.dumpsTyped(json)).rejects.toMatchObject(at('value["a b"].c'));
    const lists = nested(600, (inner) => [inner]);
    await expect(strict.dumpsTyped(lists)).rejects.toMatchObject(at(`value${"[0]".repeat(12)}...`));
  });
});

describe("verdict on serialized bytes", () => {
  it("detects deep nesting", () => {
    const around = [nested(500), nested(500, (a) => [a]), { text: "[".repeat(2000), more: nested(490) }];
    for (const value of around) expect(verdict(value)).toEqual(SOUND);
    expect(verdict(nested(600)).isDeep).toBe(true);
    expect(verdict([nested(300), nested(300)])).toEqual(SOUND);
    expect(verdict({ 'a"\\': "\\", [`${'"'.repeat(3)}]`]: nested(600) }).isDeep).toBe(true);
  });

  it("accepts messages", () => {
    const messages = [
      new HumanMessage("a"),
      new AIMessage("b"),
      new ToolMessage({ content: "c", tool_call_id: "1" }),
    ];
    expect(verdict({ messages, lc: 2, text: '"lc":1' })).toEqual(SOUND);
  });

  it.each([
    { lc: 1 },
    { lc: 1, type: "constructor", id: ["x"] },
    { type: "constructor", id: ["langchain_core", "messages", "AIMessage"], kwargs: {}, lc: 1 },
    { lc: 1, type: "constructor", id: ["langchain_core", "messages", "MyMessage"], kwargs: {} },
    { response_metadata: null },
    { tool_call_chunks: [null] },
    new HumanMessage({ content: "", additional_kwargs: { deep: nested(45) } }),
  ])("flags values that may not be read back: %j", (value) => {
    expect(verdict([[value]])).toEqual({ ...SOUND, isDoubtful: true });
  });

  it("detects __proto__ keys", () => {
    expect(verdictOn(Buffer.from('{"__proto__":1}'))).toEqual({ ...SOUND, hasProto: true });
    expect(verdict(["__proto__", { a: "__proto__" }])).toEqual(SOUND);
  });
});
