/** Pending interrupts of a graph, each with a matching form. */
import { useMemo, useRef, useState } from "preact/hooks";
import { isRecord } from "../../src/models/json.js";
import type { Interrupt } from "../../src/models/state.js";
import type { RunWish } from "../state/copy-as.js";
import { runAction } from "../state/copy-as.js";
import { Draft } from "../state/draft.js";
import {
  type Decision,
  type DecisionKind,
  type Question,
  questionOf,
  resumeOf,
  reviewAnswer,
  type ReviewRequest,
} from "../state/questions.js";
import { anyValue, shapeOf } from "../state/shape.js";
import { strings } from "../strings.js";
import { CopyAs } from "./copy-as.js";
import { Prose } from "./prose.js";
import { JsonBox, SchemaForm } from "./schema-form.js";
import { Trials, TryButton } from "./trials.js";
import { jsonText, LongText, Value, visible } from "./text.js";

/** A node that asks again in the same superstep reuses the id: its answer must not go to the next question. */
const keyOf = ({ id, value }: Interrupt): string => `${id} ${JSON.stringify(value)}`;

/** By key of a question: its answer, undefined while it is not complete. */
type Answers = ReadonlyMap<string, { value: unknown } | undefined>;

interface QuestionsProps {
  interrupts: readonly Interrupt[];
  graph: string;
  threadId: string;
  isBusy: boolean;
  onAnswer: (wish: RunWish) => void;
}

export function Questions({ interrupts, graph, threadId, isBusy, onAnswer }: QuestionsProps) {
  const [answers, setAnswers] = useState<Answers>(new Map());
  const keyed = useMemo(() => interrupts.map((each) => ({ ...each, key: keyOf(each) })), [interrupts]);
  const given = new Map(
    keyed.flatMap(({ id, key }): [string, unknown][] => {
      const answer = answers.get(key);
      return answer ? [[id, answer.value]] : [];
    }),
  );
  const wish = (): RunWish => ({ command: { resume: resumeOf(given, interrupts.length) } });
  const isReady = given.size > 0 && !isBusy;
  const isComplete = given.size === interrupts.length;
  const trials = { interrupts, graph, threadId, isBusy };
  return (
    <form
      class="questions"
      aria-label={`${strings.questions.title} ${threadId.slice(0, 13)}`}
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) onAnswer(wish());
      }}
    >
      {keyed.map(({ id, value, key }, index) => (
        <fieldset key={key} class="question">
          <legend>
            {interrupts.length > 1
              ? strings.questions.nth(index + 1, interrupts.length)
              : strings.questions.one}
          </legend>
          <Asked
            id={`q-${id}`}
            value={value}
            onAnswer={(answer) => setAnswers((before) => new Map(before).set(key, answer))}
          />
        </fieldset>
      ))}
      <footer class="composer-end">
        {given.size > 0 && <CopyAs action={() => runAction(graph, threadId, wish())} />}
        {interrupts.length > 1 && given.size < interrupts.length && given.size > 0 && (
          <span class="dim small-text">{strings.questions.some(given.size, interrupts.length)}</span>
        )}
        <TryButton {...trials} answers={isComplete ? interrupts.map(({ id }) => given.get(id)) : undefined} />
        <button type="submit" class="main" aria-disabled={!isReady}>
          {strings.questions.send}
        </button>
      </footer>
      <Trials {...trials} onAnswer={onAnswer} />
    </form>
  );
}

interface AskedProps {
  id: string;
  value: unknown;
  onAnswer: (answer: { value: unknown } | undefined) => void;
}

function Asked({ id, value, onAnswer }: AskedProps) {
  const [question] = useState(() => questionOf(value));
  switch (question.kind) {
    case "review":
      return <Review id={id} question={question} onAnswer={onAnswer} />;
    case "choice":
      return (
        <>
          <Told value={without(value, question.options)} />
          <Choices id={id} options={question.options} onAnswer={onAnswer} />
        </>
      );
    case "form":
      return (
        <>
          <Told value={without(value, question.schema)} />
          <FormAnswer id={id} schema={question.schema} onAnswer={onAnswer} />
        </>
      );
    case "any":
      return (
        <>
          <Told value={value} />
          <FreeAnswer id={id} value={value} onAnswer={onAnswer} />
        </>
      );
  }
}

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

function Choices({ id, options, onAnswer }: Omit<AskedProps, "value"> & { options: readonly unknown[] }) {
  return (
    <div class="options-row" role="radiogroup" aria-label={strings.questions.answer}>
      {options.map((option, index) => (
        <label key={index}>
          <input type="radio" name={id} onChange={() => onAnswer({ value: option })} />{" "}
          {visible(typeof option === "string" ? option : JSON.stringify(option))}
        </label>
      ))}
    </div>
  );
}

function FormAnswer({ id, schema, onAnswer }: Omit<AskedProps, "value"> & { schema: object }) {
  const [draft] = useState(
    () => new Draft(() => onAnswer(draft.isReady.value ? { value: draft.value.value } : undefined)),
  );
  return <SchemaForm id={id} draft={draft} shape={shapeOf(schema)} faults={NO_FAULTS} />;
}

const NO_FAULTS = new Map<string, string>();

/** Accepts text or JSON. If the question is an object or a list, a button inserts it as a starting point. */
function FreeAnswer({ id, value, onAnswer }: AskedProps) {
  const [text, setText] = useState("");
  const write = (next: string) => {
    setText(next);
    const answer = anyValue(next);
    onAnswer(answer === undefined ? undefined : { value: answer });
  };
  return (
    <div class="field">
      <label for={id}>{strings.questions.answer}</label>
      <textarea
        id={id}
        rows={Math.min(12, Math.max(2, text.split("\n").length))}
        placeholder={strings.composer.any}
        value={text}
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

interface ReviewProps extends Omit<AskedProps, "value"> {
  question: Extract<Question, { kind: "review" }>;
}

function Review({ id, question, onAnswer }: ReviewProps) {
  const decisions = useRef<readonly (Decision | undefined)[]>([]);
  const decide = (index: number, decision: Decision | undefined) => {
    const { current } = decisions;
    decisions.current = question.requests.map((_, at) => (at === index ? decision : current[at]));
    const complete = decisions.current.filter((each) => each !== undefined);
    const isComplete = complete.length === question.requests.length;
    onAnswer(isComplete ? { value: reviewAnswer(question, complete) } : undefined);
  };
  return (
    <>
      {question.requests.map((request, index) => (
        <Request
          key={index}
          id={`${id}-${index}`}
          request={request}
          onDecide={(decision) => decide(index, decision)}
        />
      ))}
    </>
  );
}

interface RequestProps {
  id: string;
  request: ReviewRequest;
  onDecide: (decision: Decision | undefined) => void;
}

function Request({ id, request, onDecide }: RequestProps) {
  const { name, args, description, allowed } = request;
  const [kind, setKind] = useState<DecisionKind | undefined>(undefined);
  const [draft] = useState(() => new Draft(() => decideEdit()));
  const decideEdit = () =>
    onDecide(draft.isReady.value ? { kind: "edit", args: draft.value.value } : undefined);
  const choose = (next: DecisionKind) => {
    setKind(next);
    if (next === "edit") draft.set(args);
    else onDecide(next === "respond" ? undefined : { kind: next });
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
      {kind === "edit" && <EditedArgs id={id} request={request} draft={draft} />}
      {(kind === "reject" || kind === "respond") && (
        <div class="field">
          <label for={`${id}-why`}>
            {kind === "reject" ? strings.questions.why : strings.questions.answer}
          </label>
          <textarea
            id={`${id}-why`}
            rows={2}
            onInput={({ currentTarget: { value: message } }) =>
              onDecide(kind === "respond" && message === "" ? undefined : { kind, message })
            }
          />
        </div>
      )}
    </div>
  );
}

function EditedArgs({
  id,
  request: { schema, name },
  draft,
}: {
  id: string;
  request: ReviewRequest;
  draft: Draft;
}) {
  const shape = shapeOf(schema);
  if (shape.kind === "object") return <SchemaForm id={id} draft={draft} shape={shape} faults={NO_FAULTS} />;
  return <JsonBox id={id} label={strings.questions.args(visible(name))} draft={draft} />;
}
