/** The answers that are tried on copies, with their outcomes: compare them, open one, or choose one. */
import { useEffect } from "preact/hooks";
import type { Interrupt } from "../../src/models/state.js";
import { href } from "../router.js";
import type { RunWish } from "../state/copy-as.js";
import { MOST_TRIALS, readKeptTrials, resumeFor, type Trial, trialsOf, tryAnswers } from "../state/trials.js";
import { strings } from "../strings.js";
import { visible } from "./text.js";

interface TrialsProps {
  interrupts: readonly Interrupt[];
  graph: string;
  threadId: string;
  /** Complete answers in the order of the interrupts; undefined while some are missing. */
  answers: readonly unknown[] | undefined;
  isBusy: boolean;
  onAnswer: (wish: RunWish) => void;
}

const keyOf = (threadId: string, interrupts: readonly Interrupt[]): string =>
  [threadId, ...interrupts.map(({ id }) => id)].join(" ");

export function TryButton({ interrupts, graph, threadId, answers, isBusy }: Omit<TrialsProps, "onAnswer">) {
  const key = keyOf(threadId, interrupts);
  const isReady = answers !== undefined && !isBusy && trialsOf(key).length < MOST_TRIALS;
  return (
    <button
      type="button"
      title={strings.trials.hint(MOST_TRIALS)}
      aria-disabled={!isReady}
      onClick={() => isReady && void tryAnswers(key, { threadId, graph, answers })}
    >
      {strings.trials.start}
    </button>
  );
}

export function Trials({ interrupts, threadId, isBusy, onAnswer }: Omit<TrialsProps, "graph" | "answers">) {
  const key = keyOf(threadId, interrupts);
  const trials = trialsOf(key);
  useEffect(() => void readKeptTrials(key), [key]);
  if (trials.length === 0) return null;
  const [first] = trials;
  return (
    <section class="trials" aria-label={strings.trials.title}>
      <p class="trials-title dim">{strings.trials.title}</p>
      <ol>
        {trials.map((trial, index) => (
          <li key={trial.id}>
            <span class="trial-answer">{visible(answerText(trial))}</span>
            <Outcome trial={trial} />
            {trial.threadId !== undefined && trial.state !== "running" && (
              <>
                <a href={href(["run", trial.threadId])}>{strings.trials.open}</a>
                {index > 0 && first?.threadId !== undefined && (
                  <a href={href(["compare", `${first.threadId}@-1`, `${trial.threadId}@-1`])}>
                    {strings.trials.compare}
                  </a>
                )}
              </>
            )}
            <button
              type="button"
              class="small"
              disabled={isBusy}
              onClick={() => onAnswer({ command: { resume: resumeFor(interrupts, trial.answers) } })}
            >
              {strings.trials.choose}
              <span class="visually-hidden"> {visible(answerText(trial))}</span>
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Outcome({ trial: { state, error } }: { trial: Trial }) {
  const look = { running: "busy", done: "idle", waits: "interrupted", failed: "error" }[state];
  const shape = { running: "◐", done: "●", waits: "◆", failed: "▲" }[state];
  return (
    <span role="status" class={`status is-${look}`}>
      <span aria-hidden="true">{shape}</span> {strings.trials.states[state]}
      {error !== undefined && `: ${visible(error.slice(0, 200))}`}
    </span>
  );
}

const MOST_TEXT = 60;

function answerText({ answers }: Trial): string {
  const text = answers.map((each) => (typeof each === "string" ? each : JSON.stringify(each))).join(", ");
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text;
}
