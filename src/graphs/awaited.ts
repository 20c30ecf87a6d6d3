/** Waiting for what a module gives later: its evaluation, or a promise that it exports. */
import { GraphLoadError } from "../support/errors.js";
import { exportLocation, type BrokenModule, rejectionError } from "./load-errors.js";

/** How long a module may take to be evaluated, and then a promise that it exports to settle. */
export const LOAD_LIMIT_MS = 30_000;

/** @throws GraphLoadError when the module is not evaluated in time (`graph_load_failed`) */
export function evaluated<T>(evaluation: Promise<T>, { source, path }: BrokenModule): Promise<T> {
  return inTime(evaluation, () => {
    const hint = "look for a top-level await in it, or in what it imports, that waits for ever";
    return new GraphLoadError(`${source} is not evaluated after ${LOAD_LIMIT_MS / 1000} s`, {
      hint,
      location: { file: path },
    });
  });
}

/**
 * What a promise that is exported as `name` resolves to; `module.source` names the export.
 * @throws GraphLoadError when it is rejected, or does not settle in time (`graph_load_failed`)
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
