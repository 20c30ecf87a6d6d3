/**
 * LangGraph's SDK without a URL: `new Client()` looks in the global scope for a `fetch` and for the URL of the server of
 * its process. The `fetch` stands there before graphs are loaded, since many make their client when they are.
 */
type Fetch = typeof globalThis.fetch;

const FETCH = Symbol.for("langgraph_api:fetch");
const URL_BASE = Symbol.for("langgraph_api:url");

const scope = globalThis as { [FETCH]?: unknown; [URL_BASE]?: unknown };

/** A server of this process. */
export interface FetchTarget {
  url: string;
  fetch: Fetch;
  /** Whether the code that is being executed is a run of the server, or part of a request to it. */
  isCalling: () => boolean;
}

const targets: FetchTarget[] = [];
let providers = 0;

/** Code of a server reaches that one, other code the server that began last; without any the request is sent as usual. */
const dispatch: Fetch = (input, init) => {
  const target = targets.find(({ isCalling }) => isCalling()) ?? targets.at(-1);
  return (target?.fetch ?? fetch)(input, init);
};

/** Let graphs that are loaded from now on have a `fetch`. Returns what withdraws it, which may be called once. */
export function provideSdkFetch(): () => void {
  providers += 1;
  scope[FETCH] = dispatch;
  return () => {
    providers -= 1;
    if (providers === 0 && scope[FETCH] === dispatch) delete scope[FETCH];
  };
}

/** A server listens. Returns what withdraws it, which may be called once. */
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
