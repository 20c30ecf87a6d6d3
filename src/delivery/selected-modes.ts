/** Selects the frames of stream modes. Ids are unchanged. */
import { EVENTS_OF, STATE_MODES } from "../graphs/stream/stream-frames.js";
import type { RunFrame } from "../models/run-stream.js";
import type { Run, StreamMode } from "../models/run.js";

/** Events that every reader gets, regardless of the requested modes. */
const ALWAYS = ["metadata", "end", "error"];

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

/** The frames of these modes, with unchanged ids. */
export async function* onlyModes(frames: AsyncIterable<readonly RunFrame[]>, modes: readonly StreamMode[]) {
  const wanted = new Set<string>([
    ...ALWAYS,
    ...modes.map((mode) => (mode === "messages-tuple" ? "messages" : mode)),
  ]);
  for await (const batch of frames) {
    const shown = batch.filter(({ event }) => wanted.has(event.split(/[|/]/, 1)[0] ?? ""));
    if (shown.length > 0) yield shown;
  }
}
