/** Events and helpers of `dev`. They need the token in the address that the terminal printed. */
import { batch } from "@preact/signals";
import type {
  FaultLocation,
  StudioCase,
  StudioHello,
  StudioReplay,
  StudioShadow,
} from "../../src/models/studio.js";
import { ask, isReadOnly, open, storedKey } from "../api.js";
import type { Action } from "./copy-as.js";
import { readGraph } from "./graphs.js";
import { hello, isHelloAwaited } from "./hello.js";
import { framesOf, isBroken } from "./stream.js";

const TOKEN = "graph-serve.token";
const LOCK = "graph-serve.events";
/** Maximum time that the screens wait for the first hello. */
const HELLO_MS = 500;

interface Message {
  kind: "asks" | "token" | "hello";
  token?: string | null;
  hello?: StudioHello;
}

/** Connects the tabs of a browser: one reads the events and forwards them, and new tabs ask for the token. */
const tabs = new BroadcastChannel("graph-serve.studio");
let listening: AbortController | undefined;

const token = (): string | null => sessionStorage.getItem(TOKEN);

/**
 * Store the token of the URL that the terminal printed (`#token=…`) in this tab and remove it from the
 * address.
 */
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
  // `graph-serve studio` uses one key for the API and the helpers.
  const key = storedKey();
  if (token() === null && isReadOnly && key !== null) use(key);
  else if (token() === null) post({ kind: "asks" });
  else if (!listening) void connect();
  isHelloAwaited.value = listening !== undefined && hello.peek() === undefined;
  setTimeout(() => (isHelloAwaited.value = false), HELLO_MS);
}

const post = (message: Message): void => tabs.postMessage(message);

function use(next: string): void {
  sessionStorage.setItem(TOKEN, next);
  void connect();
}

export const helperHeaders = (): Record<string, string> => ({ "x-studio-token": token() ?? "" });

const readHello = async (): Promise<StudioHello> =>
  (await ask<StudioHello>("GET", "/studio/api/hello", { headers: helperHeaders() })).body;

async function connect(): Promise<void> {
  listening?.abort();
  const leaving = new AbortController();
  listening = leaving;
  const first = await firstHello(leaving.signal);
  batch(() => {
    if (first && !leaving.signal.aborted) hello.value = first;
    isHelloAwaited.value = false;
  });
  if (!first || leaving.signal.aborted) return;
  // All tabs share one connection: the tab with the lock holds it.
  await navigator.locks
    .request(LOCK, { signal: leaving.signal }, () => readEvents(leaving.signal))
    .catch(() => undefined);
}

const AGAIN_MS = 2000;
const again = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, AGAIN_MS));

/** Undefined if the token is not of this server, or if another one is used meanwhile. */
async function firstHello(signal: AbortSignal): Promise<StudioHello | undefined> {
  while (!signal.aborted) {
    try {
      return await readHello();
    } catch (error) {
      if (!isBroken(error)) {
        // The token belongs to an earlier process, or the server has no helpers.
        if (!signal.aborted) sessionStorage.removeItem(TOKEN);
        return undefined;
      }
    }
    isHelloAwaited.value = false;
    await again();
  }
  return undefined;
}

async function readEvents(signal: AbortSignal): Promise<void> {
  const share = (next: StudioHello) => {
    take(next);
    post({ kind: "hello", hello: next });
  };
  while (!signal.aborted) {
    try {
      const response = await open("GET", "/studio/api/events", { headers: helperHeaders(), signal });
      // What was saved before this connection is not reported on it: a restart closes the last one first.
      share(await readHello());
      for await (const { data } of framesOf(response)) share(data as StudioHello);
    } catch (error) {
      if (!isBroken(error)) return;
    }
    await again();
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

/** Null if the project has no results of `shadow --studio`. */
export const readShadow = (): Promise<StudioShadow | null> => helped("shadow");

export const readRecordings = (): Promise<string[]> => helped("recordings");

/** @throws ApiError if this server created no replay on that thread */
export const readReplay = (threadId: string): Promise<StudioReplay> =>
  helped(`replays/${encodeURIComponent(threadId)}`);

/** The `replay` command that runs again with the current code and compares the results. */
export const againAction = (threadId: string, runId: string): Action => ({
  cli: ["replay", threadId, "--execute", "--run", runId, "--compare"],
});

/** Run again on a copy of the thread. @throws ApiError if the run cannot be replayed */
export const startReplay = (wish: {
  thread_id: string;
  run_id: string;
  recorded: boolean;
}): Promise<StudioReplay> => help("replays", wish);

/**
 * The thread as one HTML file; without secrets unless `keepsSecrets`.
 * @throws ApiError
 */
export async function threadPage(threadId: string, keepsSecrets: boolean): Promise<Blob> {
  const query = keepsSecrets ? "?secrets=kept" : "";
  const path = `/studio/api/threads/${encodeURIComponent(threadId)}/page${query}`;
  return (await open("GET", path, { headers: helperHeaders() })).blob();
}

export const pageAction = (threadId: string, keepsSecrets: boolean, file: string): Action => ({
  cli: ["replay", threadId, "--format", "html", ...(keepsSecrets ? ["--keep-secrets"] : [])],
  into: file,
});

/**
 * Open a source location in the user's editor.
 * @throws ApiError if the file is not allowed or the editor cannot be started
 */
export const openInEditor = ({ file, line, column }: Omit<FaultLocation, "frame">): Promise<void> =>
  help("open", { file, line, column });

export interface CaseWish {
  thread_id: string;
  run_id: string;
  /** Path within the project folder; a default path if omitted. */
  file?: string;
  write?: boolean;
  replace?: boolean;
  /** Path of the only final value to expect. */
  expect?: string | undefined;
}

/** Convert a run to a case file. @throws ApiError if it cannot be converted or written */
export const makeCase = (wish: CaseWish): Promise<StudioCase> => help("cases", wish);

/** The `test` command that writes the case file. It does not overwrite existing files. */
export const caseAction = (runId: string, file: string): Action => ({
  cli: ["test", "--from-run", runId, "--out", file],
});
