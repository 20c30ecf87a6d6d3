import { setTimeout as wait } from "node:timers/promises";
import { InvalidRequestError } from "../../errors.js";
import { optionalNumber } from "../numbers.js";
import { pageHead, pageSteps } from "../replay/page-data.js";
import { replayPage } from "../replay/page.js";
import { StepKeys } from "../replay/keys.js";
import { framesOf, openReel, type Frame, type Reel } from "../replay/reel.js";
import { frameLines, hasNews } from "../replay/text.js";
import type { Session } from "../session.js";
import { findThreadId } from "../source/find.js";
import { warnHidden } from "../source/hidden.js";
import type { SourceFlags } from "../source/source.js";
import { withSource } from "../source/with-source.js";
import { abortOnStop, SIGNAL_EXITS } from "../stop.js";
import { printJsonList } from "../view/json-list.js";

export interface ReplayFlags extends SourceFlags {
  from?: string;
  to?: string;
  delay?: string;
  step?: boolean;
  changedOnly?: boolean;
  format: "text" | "html";
}

/** `replay`: the stored checkpoints of a thread, one after the other; no node is executed. */
export async function replay(session: Session, thread: string, flags: ReplayFlags): Promise<number> {
  const delay = optionalNumber("--delay", flags.delay) ?? 0;
  refuseContradictions(session, flags);
  const stop = abortOnStop(session.io);
  let isInterrupted = false;
  try {
    await withSource(session, flags, {}, async (source) => {
      const threadId = await findThreadId(source, thread);
      const found = await source.threads.get(threadId);
      warnHidden(session.print, source, [found]);
      session.print.note(`thread ${threadId}  ${found.status}  ${source.place}`);
      const { print } = session;
      const frames = () => framesOf(source, threadId, flags);
      if (print.isJson) await printJsonList(print, documents(frames(), flags));
      else if (flags.format === "html")
        await print.parts(replayPage(pageHead(found, source.place), pageSteps(frames())));
      else if (flags.step) {
        const reel = await openReel(source, threadId, flags);
        isInterrupted = await stepThrough(session, reel, { ...flags, signal: stop.signal });
      } else await play(session, frames(), { ...flags, delay, signal: stop.signal });
    });
    if (isInterrupted) return SIGNAL_EXITS.SIGINT ?? 1;
    return stop.signal.aborted ? (SIGNAL_EXITS[String(stop.signal.reason)] ?? 1) : 0;
  } finally {
    stop.dispose();
  }
}

function refuseContradictions({ io, print }: Session, { step, delay, format }: ReplayFlags): void {
  const refuse = (fault: string, hint: string): never => {
    throw new InvalidRequestError(fault, undefined, { hint });
  };
  if (!step) return;
  if (delay !== undefined) refuse("--step and --delay exclude each other", "leave one of them out");
  if (format === "html" || print.isJson) refuse("--step is for text", "the HTML page has keys of its own");
  if (!io.stdin.isTTY)
    refuse("--step needs a terminal to press keys on", "use --delay 500, or --format html");
}

/** Frames as JSON: the state of the interface, and what led to it. */
async function* documents(
  frames: AsyncIterable<Frame>,
  { changedOnly }: ReplayFlags,
): AsyncGenerator<object> {
  for await (const frame of frames) {
    if (changedOnly && !hasNews(frame)) continue;
    const { nodes, ms } = frame.entry;
    yield { ...frame.state, nodes, ms: ms ?? null, changes: frame.changes };
  }
}

async function play(
  { print }: Session,
  frames: AsyncIterable<Frame>,
  { changedOnly, delay, signal }: { changedOnly?: boolean; delay: number; signal: AbortSignal },
): Promise<void> {
  let count = 0;
  for await (const frame of frames) {
    if (signal.aborted) return;
    if (changedOnly && !hasNews(frame)) continue;
    if (count > 0 && delay > 0) await wait(delay, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    count += 1;
    for (const line of frameLines(print, frame)) print.data(line);
    await print.drained();
  }
  if (count === 0) print.note("there is nothing to replay");
}

const HELP = "keys: space next, p back, q quit";

/** True when Ctrl-C ended it. */
async function stepThrough(
  { io, print }: Session,
  reel: Reel,
  { changedOnly, signal }: { changedOnly?: boolean; signal: AbortSignal },
): Promise<boolean> {
  let index = await nextShown(reel, -1, 1, changedOnly);
  if (!index) {
    print.note("there is nothing to replay");
    return false;
  }
  print.note(HELP);
  const show = (frame: Frame) => frameLines(print, frame).forEach((line) => print.data(line));
  // Before anything is shown: whoever sees it may press a key.
  const keys = new StepKeys(io, signal);
  try {
    show(index.frame);
    for await (const key of keys) {
      if (key === "quit" || key === "interrupt") return key === "interrupt";
      const found = await nextShown(reel, index.at, key === "next" ? 1 : -1, changedOnly);
      if (!found && key === "next") return false;
      if (!found) continue;
      index = found;
      show(index.frame);
    }
  } finally {
    keys.close();
  }
  return false;
}

/** The nearest frame in a direction that is to be shown. */
async function nextShown(
  reel: Reel,
  from: number,
  direction: 1 | -1,
  changedOnly = false,
): Promise<{ at: number; frame: Frame } | undefined> {
  for (let at = from + direction; at >= 0 && at < reel.length; at += direction) {
    const frame = await reel.frame(at);
    if (!changedOnly || hasNews(frame)) return { at, frame };
  }
  return undefined;
}
