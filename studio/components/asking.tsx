/** What a thread waits for: answers, or resumption from a breakpoint. */
import { useEffect, useState } from "preact/hooks";
import type { ThreadState } from "../../src/models/state.js";
import { ask } from "../api.js";
import { keepFocus } from "../focus.js";
import {
  breakpoints,
  GO_ON,
  nodes,
  placesOf,
  placesText,
  type Side,
  step,
  stops,
  toggle,
} from "../state/breakpoints.js";
import { graphOfView, run, useView } from "../state/conversation.js";
import { runAction, type RunWish } from "../state/copy-as.js";
import { graphId } from "../state/graphs.js";
import type { ThreadView } from "../state/thread-view.js";
import { load, loading } from "../state/loading.js";
import { strings } from "../strings.js";
import { CopyAs } from "./copy-as.js";
import { Questions } from "./questions.js";
import { visible } from "./text.js";

/** Questions come first: a run with new input would discard them. */
export function Asking() {
  const view = useView();
  const at = view.waiting.value;
  if (!at || view.id === "") return null;
  if (at.interrupts.length > 0)
    return (
      <Questions
        key={at.checkpoint?.checkpoint_id}
        interrupts={at.interrupts}
        graph={graphOfView(view)}
        threadId={view.id}
        isBusy={view.isSending.value}
        onAnswer={(wish) => run({ ...wish, ...stopsOf(view) }, view)}
      />
    );
  return isStopped(at) ? <Stopped key={at.checkpoint?.checkpoint_id} at={at} view={view} /> : null;
}

/** Breakpoints are set in the graph of the address. */
const stopsOf = (view: ThreadView): ReturnType<typeof stops> =>
  graphOfView(view) === graphId.value ? stops() : {};

/** Nodes remain to run, and no task failed. */
const isStopped = ({ next, tasks }: ThreadState): boolean =>
  next.length > 0 && tasks.every(({ error }) => error === null);

/** Nodes where a thread stopped, including those in subgraphs. */
export function usePlaces(at: ThreadState, threadId: string): { places: string[]; isUnread: boolean } {
  const [inside] = useState(() => loading<ThreadState>());
  // The thread's own state does not include subgraph states.
  const isGraph = at.tasks.some(({ checkpoint }) => checkpoint !== null);
  useEffect(() => {
    const path = `/threads/${encodeURIComponent(threadId)}/state?subgraphs=true`;
    if (isGraph) void load(inside, async () => (await ask<ThreadState>("GET", path)).body);
  }, []);
  const { value } = inside.value;
  return { places: placesOf(value ?? at), isUnread: isGraph && !value && !inside.error.value };
}

function Stopped({ at, view }: { at: ThreadState; view: ThreadView }) {
  const { places, isUnread } = usePlaces(at, view.id);
  const graph = graphOfView(view);
  const isBusy = view.isSending.value;
  const isFailed = view.row.value.value?.status === "error";
  const names = visible(placesText(places));
  const resume = (): RunWish => ({ ...GO_ON, ...stopsOf(view) });
  const press = (isStep: boolean) => void run(isStep ? step(places) : resume(), view).then(keepFocus);
  return (
    <section class="stopped" aria-label={strings.questions.breakpoints}>
      <p>
        <span class={`status is-${isFailed ? "error" : "interrupted"}`}>
          <span aria-hidden="true">{isFailed ? "▲" : "◆"}</span>{" "}
          {isFailed ? strings.questions.failed(names) : strings.questions.stopped(names)}
        </span>
      </p>
      <button type="button" class="main" onClick={() => press(false)} disabled={isBusy}>
        {strings.questions.goOn}
      </button>
      <button type="button" data-step onClick={() => press(true)} disabled={isBusy || isUnread}>
        {strings.questions.step}
      </button>
      <CopyAs action={() => runAction(graph, view.id, resume())} />
      {!isUnread && (
        <CopyAs of={strings.copyAs.step} action={() => runAction(graph, view.id, step(places))} />
      )}
    </section>
  );
}

const SIDES = ["before", "after"] as const satisfies readonly Side[];

/** The breakpoints of the graph as a list of checkboxes. */
export function Breakpoints() {
  const all = nodes.value;
  const { before, after } = breakpoints.value;
  const count = before.size + after.size;
  if (all.length === 0) return null;
  return (
    <details class="options">
      <summary>
        {strings.questions.breakpoints} {count > 0 && <span class="dim">{count}</span>}
      </summary>
      <ul class="breakpoints">
        {all.map((node) => (
          <li key={node}>
            {SIDES.map((side) => (
              <label key={side}>
                <input
                  type="checkbox"
                  checked={breakpoints.value[side].has(node)}
                  onChange={() => toggle(node, side)}
                />{" "}
                {strings.questions[side](visible(node))}
              </label>
            ))}
          </li>
        ))}
      </ul>
    </details>
  );
}
