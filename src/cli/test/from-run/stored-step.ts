/** A stored run as a step of a case: what it was asked, and what must be so after it. */
import { isDeepStrictEqual } from "node:util";
import { InvalidRequestError } from "../../../errors.js";
import { isRecord, type JsonObject } from "../../../models/common.js";
import type { CheckpointChoice, Expectation, Step } from "../../../testing/case-model.js";
import { isVerbs } from "../../../testing/matcher.js";
import type { Redact } from "../../../testing/redact.js";
import { asMatcher, keptValue } from "./expected-values.js";
import { chosenCheckpoint, hasStopped, nodesOf, type StoredRun } from "./stored-runs.js";

/** Keys of `configurable` that each run gets anew. */
const OF_THE_RUN = /^(thread_id|run_id|checkpoint_\w+|graph_id|assistant_id|__.*|langgraph_.*)$/;

/** @throws InvalidRequestError for what a case has no word for (`invalid_request`) */
export function stepOf(stored: StoredRun, redact: Redact): Step {
  const { kwargs } = stored.run;
  const isCommand =
    isRecord(kwargs.command) &&
    Object.values(kwargs.command).some((part) => part !== undefined && part !== null);
  const checkpoint = checkpointChoice(stored);
  const asked = isCommand ? commandOf(kwargs.command as JsonObject, stored) : { input: kwargs.input ?? null };
  const config = configOf(kwargs.config);
  const step: Step = {
    ...asked,
    ...(checkpoint !== undefined && { checkpoint }),
    ...(config && { config }),
    ...(isRecord(kwargs.context) && Object.keys(kwargs.context).length > 0 && { context: kwargs.context }),
    ...interruptNodes(kwargs),
  };
  return redact(step);
}

function interruptNodes({ interrupt_before, interrupt_after }: JsonObject): Partial<Step> {
  return {
    ...(interrupt_before != null && { interrupt_before: interrupt_before as Step["interrupt_before"] }),
    ...(interrupt_after != null && { interrupt_after: interrupt_after as Step["interrupt_after"] }),
  };
}

function commandOf({ resume, goto, update }: JsonObject, stored: StoredRun): Partial<Step> {
  const targets = goto == null ? [] : [goto].flat();
  const [target] = targets;
  if (targets.length > 1 || (target !== undefined && typeof target !== "string"))
    throw cannot(stored, "was sent to several nodes, or to one with an input of its own");
  return {
    ...(resume !== undefined && resume !== null && { resume: answerOf(resume, stored) }),
    ...(target !== undefined && { goto: target }),
    ...(update != null && {
      update: (Array.isArray(update) ? Object.fromEntries(update) : update) as JsonObject,
    }),
  };
}

/** An answer by the question's id, which is another in every run, as the answer alone. */
function answerOf(resume: unknown, stored: StoredRun): unknown {
  if (!isRecord(resume)) return resume;
  const ids = stored.start?.interrupts.map(({ id }) => id) ?? [];
  const keys = Object.keys(resume);
  if (keys.length === 0 || !keys.every((key) => ids.includes(key) || /^[0-9a-f]{32}$/.test(key)))
    return resume;
  if (keys.length > 1)
    throw cannot(stored, "answered several questions by their ids, which are new in every run");
  return resume[String(keys[0])];
}

const cannot = ({ run: { run_id } }: StoredRun, what: string): InvalidRequestError =>
  new InvalidRequestError(`run ${run_id} ${what}; a case cannot repeat that`);

/** As a case names it: by its step, or the node before which it stands. */
function checkpointChoice(stored: StoredRun): CheckpointChoice | undefined {
  const id = chosenCheckpoint(stored.run);
  if (id === undefined) return undefined;
  const { start, before } = stored;
  const step = start?.metadata.step;
  if (start && typeof step === "number" && before.find(({ metadata }) => metadata.step === step) === start)
    return step;
  const node = start?.next.find((name) => before.find(({ next }) => next.includes(name)) === start);
  if (node !== undefined) return { before: node };
  throw cannot(stored, `started from the checkpoint ${id}, which a case cannot name`);
}

function configOf(config: unknown): JsonObject | undefined {
  if (!isRecord(config)) return undefined;
  const { configurable, ...rest } = config;
  const own = isRecord(configurable)
    ? Object.fromEntries(Object.entries(configurable).filter(([key]) => !OF_THE_RUN.test(key)))
    : {};
  const kept = { ...rest, ...(Object.keys(own).length > 0 && { configurable: own }) };
  return Object.keys(kept).length > 0 ? kept : undefined;
}

/** What every run tells of itself; `tokens` when a recording makes them the same each time. */
export function expectationOf(stored: StoredRun, redact: Redact, isRecorded: boolean): Expectation {
  const { run } = stored;
  const nodes = nodesOf(stored);
  const { total_tokens = 0 } = run.usage ?? {};
  return {
    status: run.status,
    ...(nodes && { nodes }),
    ...questionOf(stored, redact),
    ...(run.status === "error" && run.error !== null && errorOf(run.error, redact)),
    ...(isRecorded && total_tokens > 0 && { tokens: { max: total_tokens } }),
  };
}

function questionOf(stored: StoredRun, redact: Redact): Partial<Expectation> {
  const { run, end, next } = stored;
  if (run.status !== "interrupted" || !hasStopped(stored)) return {};
  const value = end?.interrupts[0]?.value;
  if (next?.isStillThere || !isDeepStrictEqual(keptValue(value, redact), value)) return { interrupt: true };
  const isPlainRecord =
    isRecord(value) && !isVerbs(value) && Object.keys(value).every((key) => /^[\w-]+$/.test(key));
  if (!isPlainRecord) return { interrupt: asMatcher(value) };
  const parts = Object.entries(value).map(([key, inner]) => [key, asMatcher(inner)]);
  return { interrupt: parts.length > 0 ? Object.fromEntries(parts) : true };
}

function errorOf(error: string, redact: Redact): Partial<Expectation> {
  return keptValue(error, redact) === error ? { error: { contains: error } } : {};
}
