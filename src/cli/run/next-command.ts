import type { GlobalFlags } from "../flags.js";
import type { RunOutcome } from "./outcome.js";

/** The flags that say where a thread lives. */
export interface PlaceFlags {
  url?: string;
  /** Key of that server; it is never part of a command that is shown. */
  apiKey?: string;
  checkpointerScheme?: string;
  checkpointerUri?: string;
}

/** The command that goes on with the thread: an answer to its question, or the next message. */
export function nextCommand(
  { thread_id, interrupts }: Pick<RunOutcome, "thread_id" | "interrupts">,
  graph: string | undefined,
  flags: GlobalFlags & PlaceFlags,
): string {
  const { config, cwd, envFile, url, checkpointerScheme, checkpointerUri } = flags;
  const places = Object.entries({
    "--config": config,
    "--cwd": cwd,
    "--env-file": envFile,
    "--url": url,
    "--checkpointer-scheme": checkpointerScheme,
    "--checkpointer-uri": checkpointerUri,
  }).flatMap(([flag, value]) => (value === undefined ? [] : [flag, quoted(value)]));
  return [
    "graph-serve run",
    ...(graph === undefined ? [] : [quoted(graph)]),
    ...places,
    `--thread ${thread_id}`,
    ...(interrupts.length > 0 ? ["--resume", quoted(answerTemplate(interrupts))] : ['--message "..."']),
  ].join(" ");
}

/** One question takes the answer itself, several take a map from question to answer. */
function answerTemplate(interrupts: RunOutcome["interrupts"]): string {
  return interrupts.length === 1
    ? "true"
    : JSON.stringify(Object.fromEntries(interrupts.map(({ id }) => [id, true])));
}

function quoted(text: string): string {
  return /^[\w./:@=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
