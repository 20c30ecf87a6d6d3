/** Finds the step from which on a value of the state holds. */
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { ApiError } from "../api.js";
import { go } from "../router.js";
import type { Found } from "../state/bisect.js";
import { type Condition, parseCondition } from "../state/condition.js";
import type { Step } from "../state/step-list.js";
import { namespace, stepHref, steps, threadId } from "../state/thread.js";
import { strings } from "../strings.js";
import { Fault } from "./common.js";

interface Search {
  threadId: string;
  text: string;
  isBusy?: boolean;
  isInvalid?: boolean;
  found?: Found;
  error?: ApiError;
}

/** The search that is shown; undefined if it is closed. */
const search = signal<Search | undefined>(undefined);

/**
 * @param head the last step to search; the newest one by default
 * @param condition what the text means
 */
export async function findStep(
  text: string,
  head: Step | undefined = steps.value[0],
  condition: Condition | undefined = parseCondition(text),
): Promise<void> {
  const mine: Search = { threadId: threadId.peek(), text };
  if (!condition || !head) return void (search.value = { ...mine, isInvalid: true });
  const busy = { ...mine, isBusy: true };
  search.value = busy;
  const end = await run(condition, head);
  if (search.peek() !== busy) return;
  search.value = { ...mine, ...end };
  // The reader may have left the thread meanwhile.
  if (end.found?.first && threadId.peek() === mine.threadId)
    go(stepHref(end.found.first.id, { tab: "state" }));
}

async function run(condition: Condition, head: Step): Promise<Pick<Search, "found" | "error">> {
  try {
    const { bisect } = await import("../state/bisect.js");
    return { found: await bisect(threadId.peek(), namespace.peek(), head, condition) };
  } catch (error) {
    if (error instanceof ApiError) return { error };
    throw error;
  }
}

export function FinderButton() {
  const isOpen = search.value?.threadId === threadId.value;
  return (
    <button
      type="button"
      class="small"
      aria-expanded={isOpen}
      data-find
      onClick={() => (search.value = isOpen ? undefined : { threadId: threadId.value, text: "" })}
    >
      {strings.find.open}
    </button>
  );
}

export function StepFinder() {
  const mine = search.value;
  return mine?.threadId === threadId.value ? <Finder {...mine} /> : null;
}

function Finder({ text, isBusy = false, isInvalid = false, found, error }: Search) {
  const field = useRef<HTMLInputElement>(null);
  // The button that opens it has no text yet; other searches leave the focus where it is.
  useEffect(() => void (text === "" && field.current?.focus()), []);
  useEffect(() => {
    if (field.current) field.current.value = text;
  }, [text]);
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    search.value = undefined;
    document.querySelector<HTMLElement>("[data-find]")?.focus();
  };
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    if (field.current && !isBusy) void findStep(field.current.value);
  };
  return (
    <form class="step-finder" onSubmit={onSubmit} onKeyDown={onKey}>
      <label for="condition">{strings.find.label}</label>
      <span class="step-finder-row">
        <input
          ref={field}
          id="condition"
          type="text"
          defaultValue={text}
          placeholder={strings.find.hint}
          aria-invalid={isInvalid}
          aria-describedby="condition-result"
          autocomplete="off"
          spellcheck={false}
        />
        <button type="submit" class="small" aria-disabled={isBusy}>
          {isBusy ? strings.find.busy : strings.find.start}
        </button>
      </span>
      <p id="condition-result" role="status" class={isInvalid ? "bad small-text" : "small-text"}>
        {isInvalid ? strings.find.invalid : found && resultText(found)}
      </p>
      {error && <Fault error={error} />}
    </form>
  );
}

function resultText({ first, earlier, later, reads, steps: all }: Found): string {
  const cost = strings.find.reads(reads, all);
  if (!first) return `${strings.find.never} ${cost}`;
  const parts = [strings.find.from(first.number)];
  if (later !== undefined) parts.push(strings.find.notLater(later));
  if (earlier !== undefined) parts.push(strings.find.earlier(earlier));
  return [...parts, cost].join(" ");
}
