/** Stops a run before a model call that its budgets no longer allow, with a question that a person can answer. */
import { type Command, GraphInterrupt } from "@langchain/langgraph";
import { INTERRUPT } from "@langchain/langgraph-checkpoint";
import type { OpsContext } from "../context/context.js";
import type { BoundGraph } from "../graphs/registry.js";
import { openInterrupts, readState } from "../graphs/snapshot.js";
import { isRecord, type JsonObject } from "../models/common.js";
import type { ModelCalls } from "../models/model-calls.js";
import type { Run } from "../models/run.js";
import { type Budget, type Budgets, budgetText, parseBudget } from "../support/budgets/budget.js";
import { InvalidRequestError } from "../support/errors.js";
import { newId } from "../support/ids.js";
import type { UsageSource } from "../context/usage-recorder.js";
import { withAnswers } from "./answers.js";
import type { UsageQuery } from "../storage/contract/usage.js";

/** The value of the interrupt. */
const TYPE = "budget_exceeded";

type Spent = { tokens: number; USD: number };

export interface GuardedRun {
  run: Run;
  attempt: number;
  calls: ModelCalls;
  usage: UsageSource;
}

/** A check to be called before each model call; undefined for a run without budgets. An answer may raise a budget. */
export function budgetCheck(
  context: OpsContext,
  { run, attempt, calls, usage: source }: GuardedRun,
): (() => Promise<void>) | undefined {
  const { budgets, storage, caller, recorder } = context;
  const { budget, command } = run.kwargs;
  const requested = parseBudget(budget);
  const raised = raiseIn(command);
  if (!budgets && !requested && !raised) return undefined;
  const { thread, userDay } = budgets ?? {};
  const ofRun = runLimits(budgets?.run, requested, raised);
  const { usage } = storage;
  /** Stored first, so that the sums include the calls of this run. */
  const sum = async (query: Partial<UsageQuery>): Promise<Spent> => {
    const [all] = (await usage?.sum({ by: [], limit: 1, offset: 0, ...query })) ?? [];
    return all ? { tokens: all.input_tokens + all.output_tokens, USD: all.cost } : spentBy(calls);
  };
  return async () => {
    if (thread || userDay || attempt > 1) await recorder?.store(source);
    const own = attempt > 1 ? await sum({ runId: run.run_id }) : spentBy(calls);
    const isRaised = ({ unit }: Budget) => raised?.unit === unit && own[unit] < raised.amount;
    const stop = (name: keyof typeof NAMES, limit: Budget, spent: Spent): never => {
      throw new GraphInterrupt([{ id: newId().replaceAll("-", ""), value: question(name, limit, spent) }]);
    };
    for (const limit of ofRun) if (own[limit.unit] >= limit.amount) stop("run", limit, own);
    if (thread) {
      const spent = await sum({ threadId: run.thread_id });
      if (spent[thread.unit] >= thread.amount && !isRaised(thread)) stop("thread", thread, spent);
    }
    if (userDay && caller) {
      const day = new Date().toISOString().slice(0, 10);
      const spent = await sum({ userId: caller.user.identity, day });
      if (spent[userDay.unit] >= userDay.amount) stop("userDay", userDay, spent);
    }
  };
}

/** An answer replaces the budget of the settings. Of two budgets in the same unit, the lower one is reached first. */
const runLimits = (setting?: Budget, requested?: Budget, raised?: Budget): Budget[] =>
  [raised?.unit === setting?.unit ? undefined : setting, raised, requested]
    .filter((limit) => limit !== undefined)
    .sort((a, b) => a.amount - b.amount);

const NAMES = { run: "run", thread: "thread", userDay: "user.day" } as const satisfies Record<
  keyof Budgets,
  string
>;

function question(name: keyof typeof NAMES, limit: Budget, spent: Spent): JsonObject {
  const used = budgetText({ unit: limit.unit, amount: spent[limit.unit] });
  const budget = NAMES[name];
  return {
    type: TYPE,
    budget,
    limit: budgetText(limit),
    spent: used,
    message: `The budget of the ${name === "userDay" ? "user for this day" : name} is used up: ${used} of ${budgetText(limit)}.`,
    // Users cannot raise their own budget of a day.
    answer: name === "userDay" ? {} : { raise_by: budgetText(limit) },
  };
}

function spentBy(calls: ModelCalls): Spent {
  const spent: Spent = { tokens: 0, USD: 0 };
  for (const { input_tokens, output_tokens, cost } of calls.list()) {
    spent.tokens += input_tokens + output_tokens;
    spent.USD += cost;
  }
  return spent;
}

/** The amount in an answer, which may be one of several by interrupt id. */
function raiseIn(command: unknown): Budget | undefined {
  const resume = isRecord(command) ? command.resume : undefined;
  if (!isRecord(resume)) return undefined;
  const answers = [resume, ...Object.values(resume)].filter(isRecord);
  return answers.map(({ raise_by }) => parseBudget(raise_by)).find((raise) => raise !== undefined);
}

/** Whether pending writes of a checkpoint contain a question of this file. */
export const asksForBudget = (writes: readonly (readonly unknown[])[] = []): boolean =>
  writes.some(([, channel, value]) => channel === INTERRUPT && [value].flat().some(isQuestion));

const isQuestion = (interrupt: unknown): boolean =>
  isRecord(interrupt) && isRecord(interrupt.value) && interrupt.value.type === TYPE;

/**
 * Removes the answers to budget questions from a command that resumes a run: the graph did not ask them, and executes
 * the model call again.
 * @throws InvalidRequestError if an answer does not name an amount (`invalid_request`)
 */
export async function withoutBudgetAnswers(
  { graph }: Pick<BoundGraph, "graph">,
  input: Command<unknown, JsonObject>,
  configurable: JsonObject,
): Promise<unknown> {
  const open = Object.values(openInterrupts(await readState(graph, { configurable }))).flat();
  const asked = open.filter(isQuestion);
  if (asked.length === 0) return input;
  const { resume } = input;
  const others = isRecord(resume)
    ? Object.entries(resume).filter(([id]) => open.some((one) => one.id === id && !asked.includes(one)))
    : [];
  const mayRaise = asked.some(({ value }) => (value as JsonObject).budget !== NAMES.userDay);
  if (mayRaise && raiseIn({ resume }) === undefined) throw unclear(asked[0]?.value as JsonObject);
  return withAnswers(input, others);
}

function unclear({ message, answer }: JsonObject): InvalidRequestError {
  const issues = [{ loc: ["body", "command", "resume"], msg: "must name an amount", type: "value_error" }];
  return new InvalidRequestError(`${String(message)} The answer must name an amount`, issues, {
    hint: `answer with ${JSON.stringify(answer)}, or another amount in USD or tokens`,
  });
}
