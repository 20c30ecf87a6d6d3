/** Converts a stored run to a step of a case: its request and expectations. */
import { isDeepStrictEqual } from "node:util";
import { isRecord, type JsonObject } from "../../models/common.js";
import { reportedTokens } from "../../models/token-counts.js";
import { parsePath, valueAt } from "../../models/value-path.js";
import { InvalidRequestError } from "../../support/errors.js";
import type { CheckpointChoice, Expectation, Step } from "../../testing/cases/case-model.js";
import { isVerbs } from "../../testing/cases/matcher.js";
import { normalized } from "../../testing/cases/normalized.js";
import type { Redact } from "../../testing/cases/redact.js";
import { hasStopped, executedNodes, type RecordedRun } from "./stored-runs.js";
import { chosenCheckpoint } from "../../testing/shadow/units.js";

/** Keys of `configurable` that differ in each run. */
const OF_THE_RUN =
  /^(thread_id|run_id|checkpoint_\w+|graph_id|assistant_id|graph_version|__.*|langgraph_.*)$/;

/** @throws InvalidRequestError if a case cannot express the request (`invalid_request`) */
export function caseStep(stored: RecordedRun, redact: Redact): Step {
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

function commandOf({ resume, goto, update }: JsonObject, stored: RecordedRun): Partial<Step> {
  const targets = goto == null ? [] : [goto].flat();
  const [target] = targets;
  if (targets.length > 1 || (target !== undefined && typeof target !== "string"))
    throw cannot(stored, "uses goto with several nodes, or with a separate input");
  return {
    ...(resume !== undefined && resume !== null && { resume: answerOf(resume, stored) }),
    ...(target !== undefined && { goto: target }),
    ...(update != null && {
      update: (Array.isArray(update) ? Object.fromEntries(update) : update) as JsonObject,
    }),
  };
}

/** Removes the interrupt id from an answer, because ids differ in every run. */
function answerOf(resume: unknown, stored: RecordedRun): unknown {
  if (!isRecord(resume)) return resume;
  const ids = stored.start?.interrupts.map(({ id }) => id) ?? [];
  const keys = Object.keys(resume);
  if (keys.length === 0 || !keys.every((key) => ids.includes(key) || /^[0-9a-f]{32}$/.test(key)))
    return resume;
  if (keys.length > 1)
    throw cannot(stored, "answers several interrupts by id, and the ids differ in every run");
  return resume[String(keys[0])];
}

const cannot = ({ run: { run_id } }: RecordedRun, what: string): InvalidRequestError =>
  new InvalidRequestError(`run ${run_id} ${what}; a case cannot repeat that`);

/** The checkpoint in the form of a case: by step, or by the next node. */
function checkpointChoice(stored: RecordedRun): CheckpointChoice | undefined {
  const id = chosenCheckpoint(stored.run);
  if (id === undefined) return undefined;
  const { start, before } = stored;
  const step = start?.metadata.step;
  if (start && typeof step === "number" && before.find(({ metadata }) => metadata.step === step) === start)
    return step;
  const node = start?.next.find((name) => before.find(({ next }) => next.includes(name)) === start);
  if (node !== undefined) return { before: node };
  throw cannot(stored, `starts from the checkpoint ${id}, which a case cannot reference`);
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

/** Expectations that hold in every run; includes `tokens` if a recording makes them repeatable. */
export function expectationOf(stored: RecordedRun, redact: Redact, isRecorded: boolean): Expectation {
  const { run } = stored;
  const nodes = executedNodes(stored);
  const { total_tokens } = reportedTokens(run.usage);
  return {
    status: run.status,
    ...(nodes && { nodes }),
    ...questionOf(stored, redact),
    ...(run.status === "error" && run.error !== null && errorOf(run.error, redact)),
    ...(isRecorded && total_tokens > 0 && { tokens: { max: total_tokens } }),
  };
}

function questionOf(stored: RecordedRun, redact: Redact): Partial<Expectation> {
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

// Expected values of a state: without values that differ in every run, secrets, and unrecorded model responses.

/** Longer lists are expected by their length and last item. */
const MOST_ITEMS = 10;
const MESSAGE_TYPES = new Set(["human", "ai", "system", "tool", "function", "developer"]);

interface ValueOptions {
  redact: Redact;
  /** Whether model responses are the same in every run, because they are recorded or there are none. */
  isRepeatable: boolean;
}

/** Matchers by path. */
export function expectedValues(values: unknown, options: ValueOptions): Record<string, unknown> {
  if (!isRecord(values)) return {};
  const found = normalizedKeys(values).flatMap((key) => expected(key, values[key], options));
  // A key that contains a dot cannot be written as a path.
  return Object.fromEntries(
    found.filter(([path]) => {
      const steps = parsePath(path);
      return steps !== undefined && valueAt(values, steps) !== undefined;
    }),
  );
}

/**
 * Matchers of one value that the user chose, also if a model wrote it.
 * @throws InvalidRequestError if the value cannot be expected (`invalid_request`)
 */
export function chosenValue(values: unknown, path: string, redact: Redact): Record<string, unknown> {
  const value = valueAt(values, parsePath(path) ?? [""]);
  if (value === undefined)
    throw new InvalidRequestError(`the run ended without a value that clients see at ${path}`, undefined, {
      hint: "choose a value of the last step of the run, without keys that contain dots or brackets",
    });
  const found = Object.fromEntries(expected(path, value, { redact, isRepeatable: true }));
  if (Object.keys(found).length === 0)
    throw new InvalidRequestError(`${path} is a secret or differs in every run: choose another value`);
  return found;
}

type Found = [path: string, matcher: unknown][];

function expected(path: string, value: unknown, options: ValueOptions): Found {
  if (isMessageList(value))
    return listed(path, value, (at, one) => ofMessage(at, one as JsonObject, options));
  const kept = keptValue(value, options.redact);
  if (kept !== undefined && isDeepStrictEqual(kept, value)) return [[path, asMatcher(value)]];
  if (Array.isArray(value)) return listed(path, value, (at, one) => expected(at, one, options));
  if (!isRecord(value)) return [];
  return normalizedKeys(value).flatMap((key) => expected(`${path}.${key}`, value[key], options));
}

/** Keys, except those with names of values that differ in every run. */
const normalizedKeys = (value: JsonObject): string[] => {
  const kept = normalized(value) as JsonObject;
  return Object.keys(value).filter((key) => key in kept);
};

function listed(path: string, list: readonly unknown[], each: (path: string, item: unknown) => Found): Found {
  const items =
    list.length > MOST_ITEMS
      ? each(`${path}[-1]`, list.at(-1))
      : list.flatMap((item, index) => each(`${path}[${index}]`, item));
  return [[path, { length: list.length }], ...items];
}

const isMessageList = (value: unknown): value is JsonObject[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((one) => isRecord(one) && MESSAGE_TYPES.has(String(one.type)) && "content" in one);

function ofMessage(path: string, message: JsonObject, options: ValueOptions): Found {
  const { type, content, name, tool_calls } = message;
  const isOfModel = type === "ai" && !options.isRepeatable;
  const calls = Array.isArray(tool_calls) && !isOfModel ? (tool_calls as JsonObject[]) : [];
  return [
    [`${path}.type`, type],
    ...(isOfModel ? [] : expected(`${path}.content`, content, options)),
    ...(typeof name === "string" && !isOfModel ? expected(`${path}.name`, name, options) : []),
    ...calls.flatMap((call, index) => [
      ...expected(`${path}.tool_calls[${index}].name`, call.name, options),
      ...expected(`${path}.tool_calls[${index}].args`, call.args, options),
    ]),
  ];
}

/** The value without ids, times and secrets. */
const keptValue = (value: unknown, redact: Redact): unknown => normalized(redact(value));

/** The matcher for a value: the value itself, or `equals` if it could be read as a matcher or a misspelled one. */
const asMatcher = (value: unknown): unknown =>
  isVerbs(value) || (isRecord(value) && Object.keys(value).length === 1) ? { equals: value } : value;
