/** The part of a run's frames that one reader asked for. */
import type { StreamMode } from "../models/run.js";
import type { RunFrame } from "../models/run-stream.js";

/** Frames that every reader gets, whatever modes it asked for. */
const ALWAYS = new Set(["metadata", "end", "error"]);

/** The frames of these modes, under their own ids; all of them when no mode is named. */
export function framesOf(
  frames: AsyncIterable<readonly RunFrame[]>,
  modes: readonly StreamMode[] | undefined,
): AsyncIterable<readonly RunFrame[]> {
  return modes && modes.length > 0 ? onlyModes(frames, modes) : frames;
}

async function* onlyModes(frames: AsyncIterable<readonly RunFrame[]>, modes: readonly StreamMode[]) {
  const wanted = new Set<string>(modes.map((mode) => (mode === "messages-tuple" ? "messages" : mode)));
  for await (const batch of frames) {
    const shown = batch.filter(
      ({ event }) => ALWAYS.has(event) || wanted.has(event.split(/[|/]/, 1)[0] ?? ""),
    );
    if (shown.length > 0) yield shown;
  }
}

/** The frames with ids above `after`. */
export async function* framesAfter(after: number, frames: AsyncIterable<readonly RunFrame[]>) {
  for await (const batch of frames) {
    const rest = batch.filter(({ id }) => id > after);
    if (rest.length > 0) yield rest;
  }
}
