/** Requests to the server that sent this page: its public interface, and nothing else. */
import { signal } from "@preact/signals";
import { sharedThread } from "./shared.js";
import { strings } from "./strings.js";

/** What a page that carries its thread answers itself; undefined where a server is asked. */
export const shared = sharedThread();

/** The page lies one below the interface, under whatever prefix. */
const BASE = new URL("..", location.href.split("#", 1)[0]);
const KEY = "graph-serve.key";

/** What the server answered that was no success, or that it did not answer. */
export class ApiError extends Error {
  /** 0 when there was no answer. */
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  /** Where an invalid request is at fault. */
  readonly issues: readonly Issue[];

  constructor(status: number, code: string, message: string, requestId?: string, issues: Issue[] = []) {
    super(message);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.issues = issues;
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

/** Whether a key is asked for, by the reader or by the server, and whether one was tried in vain. */
export const keyAsked = signal<"no" | "wished" | "missing" | "wrong">("no");
const waiting: { go: () => void; giveUp: (error: ApiError) => void }[] = [];

const told = (name: string): string | undefined =>
  document.querySelector<HTMLMetaElement>(`meta[name="studio-${name}"]`)?.content;

/** What the server has to say of the values that it shows. */
export const note = told("note");
/** Whether nothing can be run or changed here. */
export const isReadOnly = shared !== undefined || told("read-only") !== undefined;
/** The address of the server, as commands name it. */
export const serverUrl = BASE.href.replace(/\/$/, "");

export const storedKey = (): string | null => sessionStorage.getItem(KEY);

/** Use this key from now on, for this tab alone; null forgets it. Pending requests resume with it. */
export function useKey(key: string | null): void {
  if (key === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, key);
  keyAsked.value = "no";
  for (const { go } of waiting.splice(0)) go();
}

/** A terminal's address carries the key, `#key=…`: it is kept, and no longer in the address when others read that. */
function takeKey(): void {
  const key = /^#key=([\x21-\x7e]+)$/.exec(location.hash)?.[1];
  if (key === undefined) return;
  history.replaceState(null, "", location.pathname + location.search);
  useKey(key);
}
takeKey();
// The address may be opened in this tab, too; the router listens later.
addEventListener("hashchange", takeKey);

/** Let the requests that wait for a key fail. */
export function closeKeyDialog(): void {
  keyAsked.value = "no";
  const refusal = new ApiError(401, "unauthorized", strings.key.title);
  for (const { giveUp } of waiting.splice(0)) giveUp(refusal);
}

/**
 * The answer to a request, as JSON; undefined when it has no body. One that needs a key waits for it.
 * @throws ApiError; what `signal` aborts rejects with an AbortError
 */
export async function ask<T>(method: string, path: string, options: Options = {}): Promise<Answer<T>> {
  if (shared) return sharedAnswer<T>(path, options.body);
  const response = await open(method, path, options);
  const text = await response.text();
  return { body: (text === "" ? undefined : JSON.parse(text)) as T, headers: response.headers };
}

/** As `ask`, with the body yet to be read. */
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
  try {
    const text = body === undefined ? undefined : JSON.stringify(body);
    return await fetch(new URL(path.replace(/^\//, ""), BASE), { method, headers, body: text, signal });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, "no_answer", error instanceof Error ? error.message : String(error));
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
