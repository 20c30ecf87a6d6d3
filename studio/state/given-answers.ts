/** Answers to the questions of threads, as they are entered. They stay while the page shows something else. */
import { computed, signal } from "@preact/signals";
import type { Interrupt } from "../../src/models/state.js";
import { Draft } from "./draft.js";
import { type Decision, type DecisionKind, type Question, questionOf, reviewAnswer } from "./questions.js";
import { anyValue, missingIn, type Shape, shapeOf, withEmpty } from "./shape.js";

/** A decision on a request of a review. */
export class GivenDecision {
  readonly kind = signal<DecisionKind | undefined>(undefined);
  /** The edited arguments. */
  readonly args = new Draft();
  readonly shape: Shape;
  /** Paths of required arguments that are not filled in. */
  readonly missing = computed(() =>
    this.kind.value === "edit" && this.shape.kind === "object"
      ? missingIn(this.shape, this.args.value.value)
      : [],
  );
  /** Reason for a rejection, or the response. */
  readonly message = signal("");
  /** Undefined while it is not complete. */
  readonly decision = computed((): Decision | undefined => {
    const [kind, message] = [this.kind.value, this.message.value];
    if (kind === undefined || (kind === "respond" && message === "")) return undefined;
    if (kind === "respond" || kind === "reject") return { kind, message };
    if (kind !== "edit") return { kind };
    const isComplete = this.args.isReady.value && this.missing.value.length === 0;
    return isComplete ? { kind, args: this.args.value.value } : undefined;
  });

  /** @param schema JSON schema of the arguments, if it is known */
  constructor(schema: unknown) {
    this.shape = shapeOf(schema);
  }
}

export class GivenAnswer {
  /** What is asked; `question` contains parts of it. */
  readonly value: unknown;
  readonly question: Question;
  /** Text or JSON, for a question of an unknown format. */
  readonly text = signal("");
  /** Index of the chosen option. */
  readonly choice = signal<number | undefined>(undefined);
  readonly form = new Draft(() => void (this.#isFilled.value = true));
  readonly #isFilled = signal(false);
  readonly shape: Shape;
  /** Paths of required fields of the form that are not filled in. */
  readonly missing = computed(() => missingIn(this.shape, this.form.value.value));
  /** True if something was entered, but fields are missing or invalid. */
  readonly isPartial = computed(() =>
    this.question.kind === "form"
      ? this.#isFilled.value && (this.missing.value.length > 0 || !this.form.isReady.value)
      : this.decisions.some(({ missing, args }) => missing.value.length > 0 || !args.isReady.value),
  );
  /** True once the user tried to send the answer: missing fields are marked until they are filled in. */
  readonly isTried = signal(false);
  /** By request of a review. */
  readonly decisions: readonly GivenDecision[];
  /** The form as it is, even if nothing was entered; undefined while it is not complete. */
  readonly formAnswer = computed(() =>
    this.question.kind === "form" && this.form.isReady.value && this.missing.value.length === 0
      ? { value: withEmpty(this.shape, this.form.value.value) }
      : undefined,
  );
  /** Undefined while nothing was entered, or it is not complete. */
  readonly answer = computed(() => this.#read());

  constructor(value: unknown) {
    this.value = value;
    this.question = questionOf(value);
    const { question } = this;
    const requests = question.kind === "review" ? question.requests : [];
    this.shape = shapeOf(question.kind === "form" ? question.schema : undefined);
    this.decisions = requests.map(({ schema }) => new GivenDecision(schema));
  }

  #read(): { value: unknown } | undefined {
    const { question, choice, text } = this;
    switch (question.kind) {
      case "review": {
        const decisions = this.decisions.flatMap(({ decision }) => decision.value ?? []);
        const isComplete = decisions.length === question.requests.length;
        return isComplete ? { value: reviewAnswer(question, decisions) } : undefined;
      }
      case "choice":
        return choice.value === undefined ? undefined : { value: question.options[choice.value] };
      case "form":
        return this.#isFilled.value ? this.formAnswer.value : undefined;
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
