/** Below the steps of a thread: the run in flight, the input for the next run, and earlier runs. */
import { useSignalEffect } from "@preact/signals";
import { useState } from "preact/hooks";
import { attach, current } from "../state/conversation.js";
import { row, threadId } from "../state/thread.js";
import { strings } from "../strings.js";
import { NextRun } from "./next-run.js";
import { Progress } from "./progress.js";
import { RunList } from "./runs.js";

const PARTS = ["input", "runs"] as const;
type Part = (typeof PARTS)[number];
const titleOf = (part: Part): string => (part === "input" ? strings.run : strings.runs.list);

export function Dock() {
  const [part, setPart] = useState<Part | undefined>(undefined);
  useSignalEffect(() => {
    const thread = row.value.value;
    if (thread?.thread_id === threadId.value) attach(thread);
  });
  const open = (each: Part) => {
    setPart(each === part ? undefined : each);
    if (each === "input") void current.peek().readAll();
  };
  return (
    <section class="dock" aria-label={strings.run}>
      <header class="dock-head">
        {PARTS.map((each) => (
          <button
            key={each}
            type="button"
            class="small"
            aria-expanded={each === part}
            onClick={() => open(each)}
          >
            {titleOf(each)}
          </button>
        ))}
        <Progress />
      </header>
      {part === "input" && <NextRun />}
      {part === "runs" && <RunList key={threadId.value} threadId={threadId.value} />}
    </section>
  );
}
