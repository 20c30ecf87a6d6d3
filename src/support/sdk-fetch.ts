/**
 * Supports LangGraph's SDK without a URL: `new Client()` looks in the global scope for a `fetch`
 * and for the URL of its process's server.
 * The `fetch` must be set before graphs are loaded, because many create their client while loading.
 */
type Fetch = typeof globalThis.fetch;

const FETCH = Symbol.for("langgraph_api:fetch");
const URL_BASE = Symbol.for("langgraph_api:url");

const scope = globalThis as { [FETCH]?: unknown; [URL_BASE]?: unknown };

export interface FetchTarget {
  url: string;
  fetch: Fetch;
  /** Whether the current code belongs to a run or a request of the server. */
  isCalling: () => boolean;
}

const targets: FetchTarget[] = [];
let providers = 0;

/**
 * Server code calls its own server, other code the most recently started one. Without a server, the
 * request is sent as usual.
 */
const dispatch: Fetch = (input, init) => {
  const target = targets.find(({ isCalling }) => isCalling()) ?? targets.at(-1);
  return (target?.fetch ?? fetch)(input, init);
};

/**
 * Provides a `fetch` to graphs loaded from now on. Returns a function that removes it; call it at
 * most once.
 */
export function provideSdkFetch(): () => void {
  providers += 1;
  scope[FETCH] = dispatch;
  return () => {
    providers -= 1;
    if (providers === 0 && scope[FETCH] === dispatch) delete scope[FETCH];
  };
}

/** Registers a listening server. Returns a function that removes it; call it at most once. */
export function addFetchTarget(target: FetchTarget): () => void {
  const withdraw = provideSdkFetch();
  targets.push(target);
  scope[URL_BASE] = target.url;
  return () => {
    targets.splice(targets.indexOf(target), 1);
    const last = targets.at(-1);
    if (last) scope[URL_BASE] = last.url;
    else delete scope[URL_BASE];
    withdraw();
  };
}
