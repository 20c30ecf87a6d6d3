/** Requests to the server that sent this page: its public interface, and nothing else. */
import { signal } from "@preact/signals";
import { words } from "./words.js";

/** The page lies one below the interface, under whatever prefix. */
const BASE = new URL("..", location.href.split("#", 1)[0]);
const KEY = "graph-serve.key";

/** What the server answered that was no success, or that it did not answer. */
export class ApiError extends Error {
  /** 0 when there was no answer. */
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;

  constructor(status: number, code: string, message: string, requestId?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
  }
}

export interface Answer<T> {
  body: T;
  headers: Headers;
}

interface Options {
  body?: unknown;
  signal?: AbortSignal;
}

/** Whether a key is asked for, and whether one was tried in vain. */
export const keyAsked = signal<"no" | "missing" | "wrong">("no");
const waiting: { go: () => void; giveUp: (error: ApiError) => void }[] = [];

/** What the server has to say of the values that it shows. */
export const note = document.querySelector<HTMLMetaElement>('meta[name="studio-note"]')?.content;

export const storedKey = (): string | null => sessionStorage.getItem(KEY);

/** Use this key from now on, for this tab alone; null forgets it. Requests that wait for one go on. */
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
  const refusal = new ApiError(401, "unauthorized", words.key.title);
  for (const { giveUp } of waiting.splice(0)) giveUp(refusal);
}

/**
 * The answer to a request. One that needs a key waits for it.
 * @throws ApiError; what `signal` aborts rejects with an AbortError
 */
export async function ask<T>(
  method: string,
  path: string,
  { body, signal }: Options = {},
): Promise<Answer<T>> {
  for (;;) {
    const key = storedKey();
    const response = await send(method, path, { body, signal, key });
    if (response.status === 401) {
      keyAsked.value = key === null ? "missing" : "wrong";
      await new Promise<void>((go, giveUp) => waiting.push({ go, giveUp }));
      continue;
    }
    if (!response.ok) throw await errorOf(response);
    return { body: (await response.json()) as T, headers: response.headers };
  }
}

async function send(
  method: string,
  path: string,
  { body, signal, key }: Options & { key: string | null },
): Promise<Response> {
  const headers = {
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
  const text = Array.isArray(detail) ? detail.map(issueText).join("; ") : detail;
  const message = typeof text === "string" ? text : `${response.status} ${response.statusText}`;
  return new ApiError(response.status, typeof code === "string" ? code : "unknown", message, request_id);
}

function issueText(issue: unknown): string {
  const { loc, msg } = issue as { loc?: unknown[]; msg?: string };
  return `${(loc ?? []).join(".")} ${msg ?? ""}`;
}
