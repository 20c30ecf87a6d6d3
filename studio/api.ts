/** Client of the server's public API. */
import { signal } from "@preact/signals";
import { sharedThread } from "./shared.js";
import { strings } from "./strings.js";

/** Local replacement for the server on a saved page; undefined if the page has a server. */
export const shared = sharedThread();

/** The page is served one path segment below the API, under any prefix. */
const BASE = new URL("..", location.href.split("#", 1)[0]);
const KEY = "graph-serve.key";

/** An error response of the server, or a missing response. */
export class ApiError extends Error {
  /** HTTP status; 0 if there was no response. */
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  /** Locations of validation errors in the request. */
  readonly issues: readonly Issue[];

  constructor(status: number, code: string, message: string, requestId?: string, issues: Issue[] = []) {
    super(message);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.issues = issues;
  }
}

/** How often requests that were lost may have become possible again, such as by a restart of the server. */
export const reconnects = signal(0);

/** A request that was not answered. It may be repeated if the page has reconnected since it was sent. */
export class LostRequest extends ApiError {
  /** `reconnects` when the request was sent. */
  readonly sentAfter: number;

  constructor(sentAfter: number, cause: unknown) {
    super(0, "no_answer", cause instanceof Error ? cause.message : String(cause));
    this.sentAfter = sentAfter;
  }
}

export interface Issue {
  loc: (string | number)[];
  msg: string;
}

export interface Answer<T> {
  body: T;
  headers: Headers;
}

interface Options {
  body?: unknown;
  signal?: AbortSignal;
  headers?: Readonly<Record<string, string>>;
}

/** Whether the key dialog is shown, and why: `wished` by the user, `missing`, or `wrong`. */
export const keyAsked = signal<"no" | "wished" | "missing" | "wrong">("no");
const waiting: { go: () => void; giveUp: (error: ApiError) => void }[] = [];

const told = (name: string): string | undefined =>
  document.querySelector<HTMLMetaElement>(`meta[name="studio-${name}"]`)?.content;

/** The server's notice about the values that it shows. */
export const note = told("note");
export const isReadOnly = shared !== undefined || told("read-only") !== undefined;
/** Base URL of the server for curl, SDK calls and commands. */
export const serverUrl = BASE.href.replace(/\/$/, "");

export const storedKey = (): string | null => sessionStorage.getItem(KEY);

/** Use this key in this tab; null removes it. Resumes pending requests. */
export function useKey(key: string | null): void {
  if (key === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, key);
  keyAsked.value = "no";
  for (const { go } of waiting.splice(0)) go();
}

/** Store the key of the URL that the terminal printed (`#key=…`) and remove it from the address. */
function takeKey(): void {
  const key = /^#key=([\x21-\x7e]+)$/.exec(location.hash)?.[1];
  if (key === undefined) return;
  history.replaceState(null, "", location.pathname + location.search);
  useKey(key);
}
takeKey();
// Covers opening that URL in this tab. Runs before the router's listener.
addEventListener("hashchange", takeKey);

/** Reject all requests that wait for a key. */
export function closeKeyDialog(): void {
  keyAsked.value = "no";
  const refusal = new ApiError(401, "unauthorized", strings.key.title);
  for (const { giveUp } of waiting.splice(0)) giveUp(refusal);
}

/**
 * Send a request and parse the JSON response; an empty body is undefined. On status 401, waits for a new key.
 * @throws ApiError for error responses and network errors; AbortError when `signal` aborts
 */
export async function ask<T>(method: string, path: string, options: Options = {}): Promise<Answer<T>> {
  if (shared) return sharedAnswer<T>(path, options.body);
  const sentAfter = reconnects.peek();
  const response = await open(method, path, options);
  const text = await response.text().catch((error: unknown) => {
    throw options.signal?.aborted ? error : new LostRequest(sentAfter, error);
  });
  return { body: (text === "" ? undefined : JSON.parse(text)) as T, headers: response.headers };
}

/** Like `ask`, but returns the unread response. */
export async function open(method: string, path: string, options: Options = {}): Promise<Response> {
  for (;;) {
    const key = storedKey();
    const response = await send(method, path, { ...options, key });
    if (response.status === 401) {
      keyAsked.value = key === null ? "missing" : "wrong";
      await new Promise<void>((go, giveUp) => waiting.push({ go, giveUp }));
      continue;
    }
    if (!response.ok) throw await errorOf(response);
    return response;
  }
}

function sharedAnswer<T>(path: string, asked: unknown): Answer<T> {
  const body = shared?.answer(path, asked);
  if (body === undefined) throw new ApiError(404, "not_shared", strings.missing);
  return { body: body as T, headers: new Headers() };
}

async function send(
  method: string,
  path: string,
  { body, signal, key, headers: more }: Options & { key: string | null },
): Promise<Response> {
  const headers = {
    ...more,
    ...(body !== undefined && { "Content-Type": "application/json" }),
    ...(key !== null && { "x-api-key": key }),
  };
  const sentAfter = reconnects.peek();
  try {
    const text = body === undefined ? undefined : JSON.stringify(body);
    // A deletion is sent even if the page is closing.
    const keepalive = method === "DELETE";
    const url = new URL(path.replace(/^\//, ""), BASE);
    return await fetch(url, { method, headers, body: text, signal, keepalive });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new LostRequest(sentAfter, error);
  }
}

async function errorOf(response: Response): Promise<ApiError> {
  const answer = (await response.json().catch(() => ({}))) as {
    detail?: unknown;
    code?: unknown;
    request_id?: string;
  };
  const { detail, code, request_id } = answer;
  const issues = Array.isArray(detail) ? detail.map(issueOf) : [];
  const text =
    issues.length > 0 ? issues.map(({ loc, msg }) => `${loc.join(".")} ${msg}`).join("; ") : detail;
  const message = typeof text === "string" ? text : `${response.status} ${response.statusText}`;
  const name = typeof code === "string" ? code : "unknown";
  return new ApiError(response.status, name, message, request_id, issues);
}

function issueOf(issue: unknown): Issue {
  const { loc = [], msg = "" } = issue as Partial<Issue>;
  return { loc, msg };
}
