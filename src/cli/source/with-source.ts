import type { Session } from "../session.js";
import { openSource, type SourceNeeds } from "./open-source.js";
import type { Source, SourceFlags } from "./source.js";

/** Open the source that the flags name, do the work, close it whatever happens. */
export async function withSource<T>(
  session: Session,
  flags: SourceFlags,
  needs: SourceNeeds,
  work: (source: Source) => Promise<T>,
): Promise<T> {
  const source = await openSource(session, flags, needs);
  try {
    return await work(source);
  } finally {
    await source.close();
  }
}
