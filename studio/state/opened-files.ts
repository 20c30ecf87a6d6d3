/** Threads from opened files: saved pages and exported threads. They stay in this tab. */
import { isRecord } from "../../src/models/json.js";
import type { ThreadState } from "../../src/models/state.js";
import { type ThreadFile, threadFileFault } from "../../src/models/thread-file.js";
import type { PageData } from "../../src/view/replay-data.js";
import { type Answerer, answererOf, statesPage } from "../components/answers.js";
import { strings } from "../strings.js";

export interface OpenedFile {
  threadId: string;
  answer: Answerer;
}

const opened = new Map<string, OpenedFile>();

const PREFIX = "file:";

/** Reference to an opened file in addresses. */
export const fileRef = (name: string): string => `${PREFIX}${name}`;

/** File name of a reference; undefined for a thread id. */
export const fileNameOf = (ref: string): string | undefined =>
  ref.startsWith(PREFIX) ? ref.slice(PREFIX.length) : undefined;

export const openedFile = (name: string): OpenedFile | undefined => opened.get(name);

/** Read a file and keep it until the tab is closed. @throws Error with the reason if it contains no thread */
export async function openFile(file: File): Promise<void> {
  const text = await file.text();
  const content = parsed(dataIn(text) ?? text);
  if (isPage(content))
    opened.set(file.name, { threadId: content.thread.thread_id, answer: answererOf(content) });
  else {
    const fault = threadFileFault(content);
    if (fault !== undefined) throw new Error(strings.compare.noThread(file.name, fault));
    const thread = content as ThreadFile;
    opened.set(file.name, { threadId: thread.thread.thread_id, answer: exported(thread) });
  }
}

/** Data of a saved page, extracted as text and never parsed as markup. */
const dataIn = (text: string): string | undefined =>
  / type="application\/json" id="data">(.*?)<\/script>/s.exec(text)?.[1];

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isPage = (content: unknown): content is PageData =>
  isRecord(content) &&
  isRecord(content.thread) &&
  typeof content.thread.thread_id === "string" &&
  Array.isArray(content.steps) &&
  content.steps.every(
    (step) =>
      isRecord(step) &&
      typeof step.id === "string" &&
      Array.isArray(step.next) &&
      Array.isArray(step.tasks) &&
      Array.isArray(step.interrupts) &&
      Array.isArray(step.changes),
  );

/** Answers requests like a server, from an exported thread. */
function exported({ states, runs }: ThreadFile): Answerer {
  const idOf = ({ checkpoint }: ThreadState): string => checkpoint?.checkpoint_id ?? "";
  const newestFirst = [...states].reverse();
  return (path, body) => {
    if (path.includes("/runs")) return runs;
    if (path.endsWith("/history"))
      return statesPage(newestFirst, (state) => [idOf(state), state.metadata.step], body);
    const { checkpoint_id } = (body as { checkpoint: { checkpoint_id?: string } }).checkpoint;
    return states.find((state) => idOf(state) === checkpoint_id);
  };
}
