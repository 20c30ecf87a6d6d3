import type { SerializerProtocol } from "@langchain/langgraph-checkpoint";

/**
 * The serializer for a saver that keeps everything as text: it stores a value that is bytes as LangGraph stores bytes
 * inside a value. Otherwise MemorySaver parses such a write as JSON, and SqliteSaver reads it as UTF-8.
 */
export function textSerializer(inner: SerializerProtocol): SerializerProtocol {
  return {
    dumpsTyped: (value: unknown) =>
      inner.dumpsTyped(value instanceof Uint8Array ? bytesRecord(value) : value),
    loadsTyped: (type, data) => inner.loadsTyped(type, data) as Promise<unknown>,
  };
}

function bytesRecord(bytes: Uint8Array) {
  return { lc: 2, type: "constructor", id: ["Uint8Array"], method: "from", args: [Array.from(bytes)] };
}
