/** Waits, with a time limit, for the evaluation of a module, and for a promise or a factory that it exports. */
import { GraphTimeoutError, reportLongLoad } from "../support/graph-code.js";
import { exportLocation, type BrokenModule, rejectionError } from "./load-errors.js";

/** Time limit for evaluating a module, and for an exported promise to settle, in milliseconds. */
export const LOAD_LIMIT_MS = 30_000;
/** Time after which a wait is reported, in milliseconds: without it, a command seems to hang. */
export const LONG_LOAD_MS = 5_000;

/** @throws GraphTimeoutError if the module is not evaluated within the limit (`graph_load_failed`) */
export function evaluated<T>(evaluation: Promise<T>, { source, path }: BrokenModule): Promise<T> {
  const hint = "look for a top-level await that never resolves, in the module or its imports";
  return inTime(evaluation, { what: `import of ${source}`, hint }, () => {
    return new GraphTimeoutError(`${source} was not evaluated within ${LOAD_LIMIT_MS / 1000} s`, {
      hint,
      location: { file: path },
    });
  });
}

/**
 * The result of a promise exported as `name`; `module.source` names the export.
 * @throws GraphLoadError if it rejects (`graph_load_failed`)
 * @throws GraphTimeoutError if it does not settle within the limit (`graph_load_failed`)
 */
export async function settledExport(
  promise: PromiseLike<unknown>,
  module: BrokenModule,
  name: string,
): Promise<unknown> {
  const settled = Promise.resolve(promise).catch((error: unknown) => {
    throw rejectionError(error, module);
  });
  const hint = "make it resolve to the graph, or export a function that returns one";
  return inTime(settled, { what: `promise ${module.source}`, hint }, () => {
    const location = exportLocation(module, name);
    const what = `${module.source} is a promise that has not settled after ${LOAD_LIMIT_MS / 1000} s`;
    return new GraphTimeoutError(what, { hint, ...(location && { location }) });
  });
}

/** @throws GraphTimeoutError if the factory `source` does not return within the limit (`graph_load_failed`) */
export function returned<T>(result: Promise<T>, source = "of a graph"): Promise<T> {
  const hint = "look for an await in the factory that never resolves";
  return inTime(result, { what: `factory ${source}`, hint }, () => {
    return new GraphTimeoutError(`the factory ${source} has not returned after ${LOAD_LIMIT_MS / 1000} s`, {
      hint,
    });
  });
}

interface Awaited {
  what: string;
  /** What to do if it never ends. */
  hint: string;
}

async function inTime<T>(promise: Promise<T>, { what, hint }: Awaited, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const [after, most] = [LONG_LOAD_MS / 1000, LOAD_LIMIT_MS / 1000];
      reportLongLoad(`the ${what} has not finished after ${after} s, and may take ${most} s: ${hint}`);
      timer = setTimeout(() => reject(late()), LOAD_LIMIT_MS - LONG_LOAD_MS);
    }, LONG_LOAD_MS);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}
