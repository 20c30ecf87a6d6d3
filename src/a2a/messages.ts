/** Messages of agents: what of them a graph is given, and what is answered in them. */
import { randomUUID } from "node:crypto";
import type { Artifact, Message, Part } from "@a2a-js/sdk";
import { isRecord, type JsonObject } from "../models/common.js";
import { jsonOrText, type Outcome, outputText, questionsText } from "../view/outcome.js";

/** `ROLE_AGENT` of the protocol. */
const AGENT = 2;

/** The parts of a message that a graph can be given. */
interface Given {
  text: string;
  data: unknown[];
  /** Whether there is a part that is neither: a file, or the address of one. */
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
 * The input of a graph: a message where it takes messages, data as JSON in it; else the fields of the data.
 * Undefined where the graph takes no messages, and there is no data.
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

/** What a graph is resumed with: data as it is, else a text, or JSON where it reads as JSON. */
export const resumeValue = ({ text, data }: Given): unknown => (data.length > 0 ? data[0] : jsonOrText(text));

const part = (content: Part["content"], mediaType: string): Part => ({
  content,
  metadata: undefined,
  filename: "",
  mediaType,
});
const textPart = (text: string): Part => part({ $case: "text", value: text }, "text/plain");
const dataPart = (value: unknown): Part => part({ $case: "data", value }, "application/json");

/** A message of the agent, of the task. */
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

/** What a run has brought forth, as text and as data. */
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

/** What the agent says of how a run ended; undefined where its output says it. */
export function closingMessage(
  ids: { taskId: string; contextId: string },
  { status, questions, error }: Outcome,
): Message | undefined {
  if (status === "error") return agentMessage(ids, error?.message ?? "");
  return status === "interrupted"
    ? agentMessage(ids, questionsText(questions), { interrupts: questions })
    : undefined;
}
