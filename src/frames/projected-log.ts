/** Projects a log that captures all modes to the modes that the run's own client requested. */
import { EVENTS_OF, STATE_MODES } from "../graphs/stream/stream-frames.js";
import type { RunFrame } from "../models/run-stream.js";
import type { Run, StreamMode } from "../models/run.js";
import type { LogReader, RunLog } from "./run-log.js";

/** Events that are sent to every reader. */
const ALWAYS = ["metadata", "end", "error"];

/** The frames that the run's request selects, after the frame with id `after`. Ids are unchanged. */
export function readProjected(log: RunLog, run: Pick<Run, "kwargs">, after?: number): LogReader {
  const frames = log.read(after);
  const project = projectForClient(run);
  return {
    leave: () => frames.leave(),
    async *[Symbol.asyncIterator]() {
      for await (const batch of frames) {
        const shown = batch.flatMap(project);
        if (shown.length > 0) yield shown;
      }
    },
  };
}

/** Returns a function that maps a frame to a list with that frame, or to an empty list if the run's request excludes it. */
export function projectForClient({ kwargs }: Pick<Run, "kwargs">): (frame: RunFrame) => RunFrame[] {
  const modes = (kwargs.stream_mode ?? []) as readonly StreamMode[];
  const wanted = new Set([...ALWAYS, ...modes.flatMap((mode) => EVENTS_OF[mode] ?? [mode])]);
  const subgraphs = kwargs.stream_subgraphs === true;
  return (frame) => {
    const [event = "", namespace] = frame.event.split("|", 2);
    if (!wanted.has(event)) return [];
    if (namespace === undefined || subgraphs) return [frame];
    // Without `stream_subgraphs`, events of subgraphs are sent without their namespace.
    return STATE_MODES.has(event) ? [] : [{ ...frame, event }];
  };
}
