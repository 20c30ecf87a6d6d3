/** Answers to the questions of threads, as they are entered. They stay while the page shows something else. */
import { computed, signal } from "@preact/signals";
import type { Interrupt } from "../../src/models/state.js";
import { Draft } from "./draft.js";
import { type Decision, type DecisionKind, type Question, questionOf, reviewAnswer } from "./questions.js";
import { anyValue } from "./shape.js";

/** A decision on a request of a review. */
export class GivenDecision {
  readonly kind = signal<DecisionKind | undefined>(undefined);
  /** The edited arguments. */
  readonly args = new Draft();
  /** Reason for a rejection, or the response. */
  readonly message = signal("");
  /** Undefined while it is not complete. */
  readonly decision = computed((): Decision | undefined => {
    const [kind, message] = [this.kind.value, this.message.value];
    if (kind === undefined || (kind === "respond" && message === "")) return undefined;
    if (kind === "respond" || kind === "reject") return { kind, message };
    if (kind !== "edit") return { kind };
    return this.args.isReady.value ? { kind, args: this.args.value.value } : undefined;
  });
}

export class GivenAnswer {
  readonly question: Question;
  /** Text or JSON, for a question of an unknown format. */
  readonly text = signal("");
  /** Index of the chosen option. */
  readonly choice = signal<number | undefined>(undefined);
  readonly form = new Draft(() => void (this.#isFilled.value = true));
  readonly #isFilled = signal(false);
  /** By request of a review. */
  readonly decisions: readonly GivenDecision[];
  /** Undefined while it is not complete. */
  readonly answer = computed(() => this.#read());

  constructor(value: unknown) {
    this.question = questionOf(value);
    const count = this.question.kind === "review" ? this.question.requests.length : 0;
    this.decisions = Array.from({ length: count }, () => new GivenDecision());
  }

  #read(): { value: unknown } | undefined {
    const { question, choice, form, text } = this;
    switch (question.kind) {
      case "review": {
        const decisions = this.decisions.flatMap(({ decision }) => decision.value ?? []);
        const isComplete = decisions.length === question.requests.length;
        return isComplete ? { value: reviewAnswer(question, decisions) } : undefined;
      }
      case "choice":
        return choice.value === undefined ? undefined : { value: question.options[choice.value] };
      case "form":
        return this.#isFilled.value && form.isReady.value ? { value: form.value.value } : undefined;
      case "any": {
        const value = anyValue(text.value);
        return value === undefined ? undefined : { value };
      }
    }
  }
}

/** Maximum number of questions whose answers are kept. */
const MOST = 50;
const all = new Map<string, GivenAnswer>();

/** A node that asks again in the same superstep reuses the id: its answer must not go to the next question. */
export const keyOf = ({ id, value }: Interrupt): string => `${id} ${JSON.stringify(value)}`;

const nameOf = (threadId: string, interrupt: Interrupt): string => `${threadId} ${keyOf(interrupt)}`;

/** What was entered for a question so far. */
export function givenAnswer(threadId: string, interrupt: Interrupt): GivenAnswer {
  const name = nameOf(threadId, interrupt);
  const given = all.get(name) ?? new GivenAnswer(interrupt.value);
  all.delete(name);
  const [oldest] = all.keys();
  if (oldest !== undefined && all.size >= MOST) all.delete(oldest);
  all.set(name, given);
  return given;
}

/** After the answers were sent, the same question can be asked again. */
export function forgetAnswers(threadId: string, interrupts: readonly Interrupt[]): void {
  for (const interrupt of interrupts) all.delete(nameOf(threadId, interrupt));
}
