/** Converts A2A messages to graph inputs, and run outcomes to messages. */
import { randomUUID } from "node:crypto";
import type { Artifact, Message, Part } from "@a2a-js/sdk";
import { isRecord, type JsonObject } from "../models/common.js";
import { jsonOrText, type Outcome, outputText, questionsText } from "../view/outcome.js";

/** `ROLE_AGENT` of the protocol. */
const AGENT = 2;

/** Message content that a graph can receive. */
interface Given {
  text: string;
  data: unknown[];
  /** Whether the message has parts of other kinds: a file, or a file URL. */
  hasOthers: boolean;
}

export function givenBy({ parts }: Pick<Message, "parts">): Given {
  const texts: string[] = [];
  const data: unknown[] = [];
  let hasOthers = false;
  for (const { content } of parts) {
    if (content?.$case === "text") texts.push(content.value);
    else if (content?.$case === "data") data.push(content.value);
    else hasOthers = true;
  }
  return { text: texts.join("\n"), data, hasOthers };
}

/**
 * Input of a graph. If the graph accepts messages, one message with data as JSON; otherwise the
 * fields of the data. Undefined if the graph does not accept messages and there is no data.
 */
export function inputOf({ text, data }: Given, schema: JsonObject | null): unknown {
  const properties = isRecord(schema?.properties) ? schema.properties : {};
  if (Object.hasOwn(properties, "messages")) {
    const content = [...(text === "" ? [] : [text]), ...data.map((value) => JSON.stringify(value))].join(
      "\n",
    );
    return { messages: [{ role: "user", content }] };
  }
  if (data.length === 0) return undefined;
  return data.every(isRecord) ? Object.assign({}, ...data) : data[0];
}

/** Resume value of a graph: the data if present, otherwise the text, parsed as JSON if possible. */
export const resumeValue = ({ text, data }: Given): unknown => (data.length > 0 ? data[0] : jsonOrText(text));

const part = (content: Part["content"], mediaType: string): Part => ({
  content,
  metadata: undefined,
  filename: "",
  mediaType,
});
const textPart = (text: string): Part => part({ $case: "text", value: text }, "text/plain");
const dataPart = (value: unknown): Part => part({ $case: "data", value }, "application/json");

export function agentMessage(
  { taskId, contextId }: { taskId: string; contextId: string },
  text: string,
  data?: unknown,
): Message {
  return {
    messageId: randomUUID(),
    contextId,
    taskId,
    role: AGENT,
    parts: data === undefined ? [textPart(text)] : [textPart(text), dataPart(data)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

export function outputArtifact(runId: string, { values }: Outcome): Artifact {
  return {
    artifactId: runId,
    name: "output",
    description: "",
    parts: [textPart(outputText(values)), dataPart(values)],
    metadata: undefined,
    extensions: [],
  };
}

/** Final message of a run; undefined if its output says it all. */
export function closingMessage(
  ids: { taskId: string; contextId: string },
  { status, questions, error }: Outcome,
): Message | undefined {
  if (status === "error") return agentMessage(ids, error?.message ?? "");
  return status === "interrupted"
    ? agentMessage(ids, questionsText(questions), { interrupts: questions })
    : undefined;
}
