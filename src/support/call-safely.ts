/** Calls a function that returns a promise; an exception becomes a rejection, without the promises of an async function. */
export function callSafely<T>(work: () => Promise<T>): Promise<T> {
  try {
    return work();
  } catch (error) {
    return Promise.reject(error instanceof Error ? error : new Error(String(error)));
  }
}
