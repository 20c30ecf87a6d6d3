/** Events and helpers of `dev`. They need the token in the address that the terminal printed. */
import type { FaultLocation, StudioCase, StudioHello, StudioReplay } from "../../src/models/studio.js";
import { ApiError, ask, isReadOnly, open, storedKey } from "../api.js";
import type { Action } from "./copy-as.js";
import { readGraph } from "./graphs.js";
import { hello } from "./hello.js";
import { framesOf } from "./stream.js";

const TOKEN = "graph-serve.token";
const LOCK = "graph-serve.events";

interface Message {
  kind: "asks" | "token" | "hello";
  token?: string | null;
  hello?: StudioHello;
}

/** Tabs of one browser: one of them reads the events and forwards them, and a new tab asks the others for the token. */
const tabs = new BroadcastChannel("graph-serve.studio");
let listening: AbortController | undefined;

const token = (): string | null => sessionStorage.getItem(TOKEN);

/** The terminal's address carries the token, `#token=…`: it is kept for this tab, and taken out of the address. */
export function takeToken(): void {
  const found = /^#token=([\da-f]{32})$/.exec(location.hash)?.[1];
  if (found === undefined) return;
  history.replaceState(null, "", location.pathname + location.search);
  use(found);
}

export function listenForHelp(): void {
  tabs.addEventListener("message", ({ data }: MessageEvent<Message>) => {
    if (data.kind === "asks" && token() !== null) post({ kind: "token", token: token() });
    if (data.kind === "token" && data.token && token() === null) use(data.token);
    if (data.kind === "hello" && data.hello) take(data.hello);
  });
  addEventListener("hashchange", takeToken);
  // The page of a storage has one key for all of it.
  const key = storedKey();
  if (token() === null && isReadOnly && key !== null) use(key);
  else if (token() === null) post({ kind: "asks" });
  else if (!listening) void connect();
}

const post = (message: Message): void => tabs.postMessage(message);

function use(next: string): void {
  sessionStorage.setItem(TOKEN, next);
  void connect();
}

export const helperHeaders = (): Record<string, string> => ({ "x-studio-token": token() ?? "" });

async function connect(): Promise<void> {
  listening?.abort();
  const leaving = new AbortController();
  listening = leaving;
  try {
    hello.value = (await ask<StudioHello>("GET", "/studio/api/hello", { headers: helperHeaders() })).body;
  } catch (error) {
    // The token of an earlier process, or a server without helpers.
    if (error instanceof ApiError && error.status !== 0) sessionStorage.removeItem(TOKEN);
    return;
  }
  // All tabs share one connection: the tab with the lock holds it.
  await navigator.locks
    .request(LOCK, { signal: leaving.signal }, () => readEvents(leaving.signal))
    .catch(() => undefined);
}

const AGAIN_MS = 2000;

async function readEvents(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const response = await open("GET", "/studio/api/events", { headers: helperHeaders(), signal });
      for await (const { data } of framesOf(response)) {
        take(data as StudioHello);
        post({ kind: "hello", hello: data as StudioHello });
      }
    } catch (error) {
      if (error instanceof ApiError && error.status !== 0) return;
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

function take(next: StudioHello): void {
  const isReload = next.reloaded_at !== hello.value?.reloaded_at;
  hello.value = next;
  if (!isReload) return;
  void readGraph();
}

const help = async <T>(what: string, body: object): Promise<T> =>
  (await ask<T>("POST", `/studio/api/${what}`, { body, headers: helperHeaders() })).body;

const helped = async <T>(what: string): Promise<T> =>
  (await ask<T>("GET", `/studio/api/${what}`, { headers: helperHeaders() })).body;

/** Ids of the runs that are recorded. */
export const readRecordings = (): Promise<string[]> => helped("recordings");

/** @throws ApiError where this server has run nothing again on that thread */
export const readReplay = (threadId: string): Promise<StudioReplay> =>
  helped(`replays/${encodeURIComponent(threadId)}`);

/** A run with the code as it is now, compared with what came of it before, for others to do. */
export const againAction = (threadId: string, runId: string): Action => ({
  cli: ["replay", threadId, "--execute", "--run", runId, "--compare"],
});

/** Run a run again, on a copy of its thread. @throws ApiError that says why it cannot be */
export const startReplay = (wish: {
  thread_id: string;
  run_id: string;
  recorded: boolean;
}): Promise<StudioReplay> => help("replays", wish);

/**
 * The thread as a page of one file; secrets are taken out unless they are to be kept.
 * @throws ApiError
 */
export async function threadPage(threadId: string, keepsSecrets: boolean): Promise<Blob> {
  const query = keepsSecrets ? "?secrets=kept" : "";
  const path = `/studio/api/threads/${encodeURIComponent(threadId)}/page${query}`;
  return (await open("GET", path, { headers: helperHeaders() })).blob();
}

/** The same, for others to do. */
export const pageAction = (threadId: string, keepsSecrets: boolean, file: string): Action => ({
  cli: ["replay", threadId, "--format", "html", ...(keepsSecrets ? ["--keep-secrets"] : [])],
  into: file,
});

/**
 * Open a place in the reader's editor.
 * @throws ApiError that says why it cannot
 */
export const openInEditor = ({ file, line, column }: Omit<FaultLocation, "frame">): Promise<void> =>
  help("open", { file, line, column });

export interface CaseWish {
  thread_id: string;
  run_id: string;
  /** Path in the project's folder; the usual one when left out. */
  file?: string;
  write?: boolean;
  replace?: boolean;
}

/** A run as a case file. @throws ApiError that says why it cannot be one, or not be written */
export const makeCase = (wish: CaseWish): Promise<StudioCase> => help("cases", wish);

/** The same, for others to do; they write over nothing. */
export const caseAction = (runId: string, file: string): Action => ({
  cli: ["test", "--from-run", runId, "--out", file],
});
