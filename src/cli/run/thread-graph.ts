/** Which graph a thread runs, where the caller names none. */

/** Undefined where a thread is asked for that is not there. */
export async function foundOnly<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if ((error as { code?: unknown }).code === "thread_not_found") return undefined;
    throw error;
  }
}

/** The graph that a thread ran last, by its metadata. */
export function graphIdOf(thread: { metadata: Record<string, unknown> } | undefined): string | undefined {
  const id = thread?.metadata.graph_id;
  return typeof id === "string" ? id : undefined;
}
