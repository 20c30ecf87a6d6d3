/** Stands in for the function of a tool. */
import { isRecord, type JsonObject } from "../../models/common.js";
import { askedOfTool } from "./asked.js";
import type { Answer } from "./entry.js";
import { isMessage, storeMessage } from "./messages.js";
import { throwRecorded } from "./model-stand-in.js";
import type { Deck } from "./deck.js";
import type { RecordingTape } from "./tape.js";

type Call = [args: unknown, run: unknown, config?: unknown];

export interface ToolLike {
  name: string;
  _call: (...call: Call) => unknown;
}

const standIns = new WeakSet<ToolLike>();

export function standInForTool(tool: ToolLike, deck: Deck): void {
  if (standIns.has(tool)) return;
  standIns.add(tool);
  const { _call } = tool;
  Object.defineProperty(tool, "_call", {
    value: (...call: Call) => callTool(tool, _call, call, deck),
    configurable: true,
    writable: true,
  });
}

function callTool(tool: ToolLike, real: ToolLike["_call"], call: Call, deck: Deck): unknown {
  const [args, run, config] = call;
  const tape = deck.tapeOf(config, run);
  if (!tape || deck.inside.getStore()) return real.apply(tool, call);
  const asked = askedOfTool(args);
  if (tape.mode === "record") return record(tool, real, call, asked, tape, deck);
  return replay(tool, real, call, tape.answer("tool", tool.name, asked), deck);
}

async function record(
  tool: ToolLike,
  real: ToolLike["_call"],
  [args, run, config]: Call,
  asked: JsonObject,
  tape: RecordingTape,
  deck: Deck,
): Promise<unknown> {
  const events: unknown[] = [];
  try {
    const result = await deck.inside.run({ chunks: [] }, () =>
      real.call(tool, args, run, listening(config, events)),
    );
    tape.add("tool", tool.name, asked, { ...answerOf(result), ...(events.length > 0 && { events }) });
    return result;
  } catch (error) {
    if (isQuestion(error)) tape.add("tool", tool.name, asked, { live: true });
    else tape.addError("tool", tool.name, asked, error);
    throw error;
  }
}

/** What LangGraph throws to stop: an interrupt, or a way to another graph. */
const isQuestion = (error: unknown): boolean =>
  (error as { is_bubble_up?: unknown } | null)?.is_bubble_up === true;

/** The config of a call, with a writer that also takes down what the tool tells the stream. */
function listening(config: unknown, events: unknown[]): unknown {
  if (!isRecord(config) || typeof config.writer !== "function") return config;
  const write = config.writer as (event: unknown) => void;
  return {
    ...config,
    writer: (event: unknown) => {
      events.push(JSON.parse(JSON.stringify(event ?? null)));
      write(event);
    },
  };
}

function answerOf(result: unknown): Answer {
  if (isMessage(result)) return { messages: [storeMessage(result)] };
  return isPlain(result) ? { result: result ?? null } : { live: true };
}

/** Whether JSON gives a value back as it is: no command, no class, no function. */
function isPlain(value: unknown): boolean {
  if (value === null || ["string", "number", "boolean", "undefined"].includes(typeof value)) return true;
  if (Array.isArray(value)) return value.every(isPlain);
  if (!isRecord(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && Object.values(value).every(isPlain);
}

function replay(
  tool: ToolLike,
  real: ToolLike["_call"],
  call: Call,
  answer: Answer,
  { maker }: Deck,
): unknown {
  if (answer.live) return real.apply(tool, call);
  const [, , config] = call;
  const writer = isRecord(config) ? (config.writer as ((event: unknown) => void) | undefined) : undefined;
  for (const event of answer.events ?? []) writer?.(event);
  throwRecorded(answer);
  const [message] = answer.messages ?? [];
  return message ? maker.message(message) : answer.result;
}
