/** What a run's own clients get of its frames, where it is collected for the readers of its thread's events too. */
import { EVENTS_OF, STATE_MODES } from "../graphs/stream/stream-frames.js";
import type { RunFrame } from "../models/run-stream.js";
import type { Run, StreamMode } from "../models/run.js";
import type { LogReader, RunLog } from "./run-log.js";

/** Frames that every reader gets. */
const ALWAYS = ["metadata", "end", "error"];

/** The frames that the request of this run asked for, after the one with id `after`, under their own ids. */
export function readProjected(log: RunLog, run: Pick<Run, "kwargs">, after?: number): LogReader {
  const frames = log.read(after);
  const narrow = projectForClient(run);
  return {
    leave: () => frames.leave(),
    async *[Symbol.asyncIterator]() {
      for await (const batch of frames) {
        const shown = batch.flatMap(narrow);
        if (shown.length > 0) yield shown;
      }
    },
  };
}

/** What the request of this run asked for of each frame: that frame, or none. */
export function projectForClient({ kwargs }: Pick<Run, "kwargs">): (frame: RunFrame) => RunFrame[] {
  const modes = (kwargs.stream_mode ?? []) as readonly StreamMode[];
  const wanted = new Set([...ALWAYS, ...modes.flatMap((mode) => EVENTS_OF[mode] ?? [mode])]);
  const subgraphs = kwargs.stream_subgraphs === true;
  return (frame) => {
    const [event = "", namespace] = frame.event.split("|", 2);
    if (!wanted.has(event)) return [];
    if (namespace === undefined || subgraphs) return [frame];
    // Without subgraphs, what is said inside of them comes as if it were said outside.
    return STATE_MODES.has(event) ? [] : [{ ...frame, event }];
  };
}
