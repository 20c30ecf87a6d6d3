/** Pending interrupts of a graph, each with a matching form. */
import { useMemo } from "preact/hooks";
import { isRecord } from "../../src/models/json.js";
import type { Interrupt } from "../../src/models/state.js";
import { keepFocus } from "../focus.js";
import type { RunWish } from "../state/copy-as.js";
import { runAction } from "../state/copy-as.js";
import {
  forgetAnswers,
  type GivenAnswer,
  givenAnswer,
  type GivenDecision,
  keyOf,
} from "../state/given-answers.js";
import type { PathStep } from "../../src/models/value-path.js";
import { type DecisionKind, resumeOf, type ReviewRequest } from "../state/questions.js";
import { strings } from "../strings.js";
import { CopyAs } from "./copy-as.js";
import { Prose } from "./prose.js";
import { type FieldFaults, JsonBox, SchemaForm } from "./schema-form.js";
import { Trials, TryButton } from "./trials.js";
import { jsonText, LongText, Value, visible } from "./text.js";

interface QuestionsProps {
  interrupts: readonly Interrupt[];
  graph: string;
  threadId: string;
  isBusy: boolean;
  /** @returns false if the answer was rejected */
  onAnswer: (wish: RunWish) => Promise<boolean>;
}

export function Questions({ interrupts, graph, threadId, isBusy, onAnswer }: QuestionsProps) {
  const asked = useMemo(
    () => interrupts.map((each) => ({ ...each, key: keyOf(each), given: givenAnswer(threadId, each) })),
    [interrupts, threadId],
  );
  const answers = answersOf(asked);
  const wish = (): RunWish => ({ command: { resume: resumeOf(answers, interrupts.length) } });
  const send = async (wanted: RunWish) => {
    // Questions without an answer are asked again.
    const answered = interrupts.filter(({ id }) => answers.has(id));
    if (!(await onAnswer(wanted))) return;
    forgetAnswers(threadId, answered);
    keepFocus();
  };
  const isReady = answers.size > 0 && !isBusy;
  const isComplete = answers.size === interrupts.length;
  const trials = { interrupts, graph, threadId, isBusy };
  return (
    <form
      class="questions"
      aria-label={`${strings.questions.title} ${threadId.slice(0, 13)}`}
      onSubmit={(event) => {
        event.preventDefault();
        const partial = asked.filter(
          ({ given }) => given.isPartial.value || (answers.size === 0 && given.missing.value.length > 0),
        );
        if (partial.length > 0) markMissing(partial, event.currentTarget);
        else if (isReady) void send(wish());
      }}
    >
      {asked.map(({ id, key, given }, index) => (
        <fieldset key={key} class="question">
          <legend>
            {interrupts.length > 1
              ? strings.questions.nth(index + 1, interrupts.length)
              : strings.questions.one}
          </legend>
          <Asked id={`q-${id}`} given={given} />
        </fieldset>
      ))}
      <footer class="composer-end">
        {answers.size > 0 && <CopyAs action={() => runAction(graph, threadId, wish())} />}
        {answers.size > 0 && !isComplete && (
          <span class="dim small-text">{strings.questions.some(answers.size, interrupts.length)}</span>
        )}
        <TryButton
          {...trials}
          answers={isComplete ? interrupts.map(({ id }) => answers.get(id)) : undefined}
        />
        <button type="submit" class="main" aria-disabled={!isReady}>
          {strings.questions.send}
        </button>
      </footer>
      <Trials {...trials} onAnswer={(wanted) => void send(wanted)} />
    </form>
  );
}

/** By id of the question. Of several questions, a form in which nothing was entered stays pending. */
const answersOf = (asked: readonly { id: string; given: GivenAnswer }[]): Map<string, unknown> =>
  new Map(
    asked.flatMap(({ id, given: { answer, formAnswer } }): [string, unknown][] => {
      const given = asked.length === 1 ? (answer.value ?? formAnswer.value) : answer.value;
      return given ? [[id, given.value]] : [];
    }),
  );

/** Marks the fields that are missing or invalid, and moves to the first one. */
function markMissing(partial: readonly { given: GivenAnswer }[], form: HTMLFormElement): void {
  for (const { given } of partial) given.isTried.value = true;
  // The marks are rendered first.
  requestAnimationFrame(() => form.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
}

interface AskedProps {
  id: string;
  given: GivenAnswer;
}

function Asked({ id, given }: AskedProps) {
  const { question, value } = given;
  switch (question.kind) {
    case "review":
      return question.requests.map((request, index) => (
        <Request
          key={index}
          id={`${id}-${index}`}
          request={request}
          given={given.decisions[index] as GivenDecision}
          isTried={given.isTried.value}
        />
      ));
    case "choice":
      return (
        <>
          <Told value={without(value, question.options)} />
          <Choices id={id} options={question.options} given={given} />
        </>
      );
    case "form":
      return (
        <>
          <Told value={without(value, question.schema)} />
          <SchemaForm
            id={id}
            draft={given.form}
            shape={given.shape}
            faults={faultsOf(given.missing.value, given.isTried.value)}
          />
        </>
      );
    case "any":
      return (
        <>
          <Told value={value} />
          <FreeAnswer id={id} given={given} />
        </>
      );
  }
}

const faultsOf = (missing: readonly (readonly PathStep[])[], isTried: boolean): FieldFaults =>
  new Map(isTried ? missing.map((path) => [JSON.stringify(path), strings.questions.required]) : []);

/** The form or the choice already shows this part. */
const without = (value: unknown, part: unknown): unknown =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).filter(([, each]) => each !== part)) : value;

const QUESTIONS: readonly unknown[] = ["question", "message", "prompt", "text", "title", "description"];

/** The question, as plain text if it has no other fields. */
function Told({ value }: { value: unknown }) {
  const entries = isRecord(value) ? Object.entries(value) : [["", value] as const];
  const [name, text] = entries[0] ?? [];
  if (entries.length === 0) return null;
  const isText = entries.length === 1 && QUESTIONS.includes(name) && typeof text === "string";
  return <Value value={isText ? text : value} />;
}

interface ChoicesProps extends AskedProps {
  options: readonly unknown[];
}

function Choices({ id, options, given: { choice } }: ChoicesProps) {
  return (
    <div class="options-row" role="radiogroup" aria-label={strings.questions.answer}>
      {options.map((option, index) => (
        <label key={index}>
          <input
            type="radio"
            name={id}
            checked={choice.value === index}
            onChange={() => (choice.value = index)}
          />{" "}
          {visible(typeof option === "string" ? option : JSON.stringify(option))}
        </label>
      ))}
    </div>
  );
}

/** Accepts text or JSON. If the question is an object or a list, a button inserts it as a starting point. */
function FreeAnswer({ id, given: { text, value } }: AskedProps) {
  const write = (next: string) => (text.value = next);
  return (
    <div class="field">
      <label for={id}>{strings.questions.answer}</label>
      <textarea
        id={id}
        dir="auto"
        rows={Math.min(12, Math.max(2, text.value.split("\n").length))}
        placeholder={strings.composer.any}
        value={text.value}
        onInput={({ currentTarget }) => write(currentTarget.value)}
      />
      <span class="quick">
        {[true, false].map((each) => (
          <button key={String(each)} type="button" class="small" onClick={() => write(String(each))}>
            {String(each)}
          </button>
        ))}
        {typeof value === "object" && value !== null && (
          <button type="button" class="small" onClick={() => write(jsonText(value))}>
            {strings.questions.editValue}
          </button>
        )}
      </span>
    </div>
  );
}

interface RequestProps {
  id: string;
  request: ReviewRequest;
  given: GivenDecision;
  isTried: boolean;
}

function Request({ id, request, given, isTried }: RequestProps) {
  const { name, args, description, allowed } = request;
  const kind = given.kind.value;
  const choose = (next: DecisionKind) => {
    given.kind.value = next;
    if (next === "edit") given.args.set(args);
  };
  return (
    <div class="request">
      <p>
        <code>{visible(name)}</code>
      </p>
      {description !== undefined && <Prose text={description} />}
      {kind !== "edit" && <LongText class="code" text={jsonText(args)} most={4000} />}
      <div class="options-row" role="radiogroup" aria-label={strings.questions.decision(visible(name))}>
        {allowed.map((each) => (
          <label key={each}>
            <input type="radio" name={id} checked={kind === each} onChange={() => choose(each)} />{" "}
            {strings.questions.decisions[each]}
          </label>
        ))}
      </div>
      {kind === "edit" && <EditedArgs id={id} name={name} given={given} isTried={isTried} />}
      {(kind === "reject" || kind === "respond") && (
        <div class="field">
          <label for={`${id}-why`}>
            {kind === "reject" ? strings.questions.why : strings.questions.answer}
          </label>
          <textarea
            id={`${id}-why`}
            rows={2}
            value={given.message.value}
            onInput={({ currentTarget }) => (given.message.value = currentTarget.value)}
          />
        </div>
      )}
    </div>
  );
}

interface EditedArgsProps extends Omit<RequestProps, "request"> {
  name: string;
}

function EditedArgs({ id, name, given: { shape, args, missing }, isTried }: EditedArgsProps) {
  if (shape.kind === "object")
    return <SchemaForm id={id} draft={args} shape={shape} faults={faultsOf(missing.value, isTried)} />;
  return <JsonBox id={id} label={strings.questions.args(visible(name))} draft={args} />;
}
