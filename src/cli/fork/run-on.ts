/** Lets a thread go on from where it stands, or from one of its checkpoints, with no new input. */
import { GraphServeError } from "../../errors.js";
import type { Thread } from "../../models/thread.js";
import type { PlaceFlags } from "../run/next-command.js";
import { openTarget } from "../run/open-target.js";
import { applyEvent, newOutcome, type RunOutcome } from "../run/outcome.js";
import { loadSettings, type Session } from "../session.js";
import { impliedScheme } from "../source/implied-scheme.js";
import { abortOnStop } from "../stop.js";

export interface RunOnOptions {
  thread: Pick<Thread, "thread_id" | "metadata">;
  flags: PlaceFlags;
  /** Graph to run instead of the thread's own. */
  against?: string;
  checkpointId?: string;
}

/** @throws GraphServeError when the run cannot be started, or its stream is lost */
export async function runOn(session: Session, options: RunOnOptions): Promise<RunOutcome> {
  const { thread, flags, against, checkpointId } = options;
  const graph = against ?? (await graphOf(session, thread, flags));
  const target = await openTarget(session, graph, { ...impliedScheme(flags), url: flags.url });
  const stop = abortOnStop(session.io);
  const outcome = newOutcome(thread.thread_id);
  try {
    const request = {
      assistant_id: target.assistantId,
      if_not_exists: "reject" as const,
      stream_mode: ["values" as const],
      ...(checkpointId !== undefined && { checkpoint_id: checkpointId }),
    };
    for await (const event of target.stream(thread.thread_id, request, stop.signal))
      applyEvent(outcome, event);
  } finally {
    stop.dispose();
    await target.close();
  }
  if (outcome.status === "running")
    throw new GraphServeError("server_unreachable", "the stream ended before the run did");
  return outcome;
}

/** The graph that the thread last ran on, where it can be named here: on a server, or by the configuration. */
async function graphOf(
  session: Session,
  { metadata }: Pick<Thread, "metadata">,
  { url }: PlaceFlags,
): Promise<string | undefined> {
  const { graph_id } = metadata;
  if (typeof graph_id !== "string") return undefined;
  if (url !== undefined) return graph_id;
  const { settings } = await loadSettings(session, { warn: () => undefined });
  return Object.hasOwn(settings.graphs, graph_id) ? graph_id : undefined;
}
