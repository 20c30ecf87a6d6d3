/** Waits, with a time limit, for the evaluation of a module and for a promise that it exports. */
import { GraphLoadError } from "../support/errors.js";
import { exportLocation, type BrokenModule, rejectionError } from "./load-errors.js";

/** Time limit for evaluating a module, and for an exported promise to settle, in milliseconds. */
export const LOAD_LIMIT_MS = 30_000;

/** @throws GraphLoadError if the module is not evaluated within the limit (`graph_load_failed`) */
export function evaluated<T>(evaluation: Promise<T>, { source, path }: BrokenModule): Promise<T> {
  return inTime(evaluation, () => {
    const hint = "look for a top-level await that never resolves, in the module or its imports";
    return new GraphLoadError(`${source} was not evaluated within ${LOAD_LIMIT_MS / 1000} s`, {
      hint,
      location: { file: path },
    });
  });
}

/**
 * The result of a promise exported as `name`; `module.source` names the export.
 * @throws GraphLoadError if it rejects or does not settle within the limit (`graph_load_failed`)
 */
export async function settledExport(
  promise: PromiseLike<unknown>,
  module: BrokenModule,
  name: string,
): Promise<unknown> {
  const settled = Promise.resolve(promise).catch((error: unknown) => {
    throw rejectionError(error, module);
  });
  return inTime(settled, () => {
    const location = exportLocation(module, name);
    const what = `${module.source} is a promise that has not settled after ${LOAD_LIMIT_MS / 1000} s`;
    const hint = "make it resolve to the graph, or export a function that returns one";
    return new GraphLoadError(what, { hint, ...(location && { location }) });
  });
}

async function inTime<T>(promise: Promise<T>, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), LOAD_LIMIT_MS);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}
