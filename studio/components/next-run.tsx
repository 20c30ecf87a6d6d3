/** What a thread waits for, and the input for its next run, which is folded while it would discard a question. */
import { current } from "../state/conversation.js";
import { strings } from "../strings.js";
import { Asking } from "./asking.js";
import { Composer } from "./composer.js";

export function NextRun() {
  const isAsking = (current.value.waiting.value?.interrupts.length ?? 0) > 0;
  return (
    <>
      <Asking />
      {isAsking ? (
        <details class="instead">
          <summary class="dim">{strings.questions.instead}</summary>
          <Composer />
        </details>
      ) : (
        <Composer />
      )}
    </>
  );
}
