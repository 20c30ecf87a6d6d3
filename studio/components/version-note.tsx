/** A thread whose graph has changed since it ran: both versions, and what the server says of it. */
import { useEffect, useState } from "preact/hooks";
import type { ThreadVersion } from "../../src/models/version.js";
import { ask, shared } from "../api.js";
import { hello } from "../state/hello.js";
import { strings } from "../strings.js";
import { visible } from "./text.js";

interface VersionNoteProps {
  id: string;
  /** Changes with the thread. */
  updatedAt: string;
}

/** Nothing if the graph is the same or not served, and on servers without the route. */
export function VersionNote({ id, updatedAt }: VersionNoteProps) {
  const found = useVersion(id, updatedAt);
  if (found?.thread_id !== id) return null;
  const { version, served_version, problems, migrations, unchecked } = found;
  const lost = problems.length > 0;
  const isChanged = version !== null && served_version !== null && version !== served_version;
  if (!isChanged && !lost) return null;
  const { versions } = strings;
  return (
    <details class="replay-note version-note" open={lost} aria-label={versions.title}>
      <summary class={lost ? "bad" : "dim"}>
        {versions.title} <code>{visible(version ?? versions.unknown)}</code>
        {isChanged && (
          <>
            , {versions.served} <code>{visible(served_version)}</code>
          </>
        )}
      </summary>
      {problems.map(({ message }) => (
        <p key={message} class="bad">
          {visible(message)}
        </p>
      ))}
      {migrations.length > 0 && <p>{versions.migrated(migrations.map(visible).join(", "))}</p>}
      {unchecked !== null && <p>{versions.unchecked(visible(unchecked))}</p>}
      {!lost && unchecked === null && <p>{versions.continues}</p>}
      {lost && <p>{versions.fix}</p>}
    </details>
  );
}

/** Read again when the thread has changed, and after a hot reload. */
function useVersion(id: string, updatedAt: string): ThreadVersion | undefined {
  const [found, setFound] = useState<ThreadVersion | undefined>(undefined);
  const reloaded = hello.value?.reloaded_at;
  useEffect(() => {
    if (shared) return;
    const leaving = new AbortController();
    ask<ThreadVersion>("GET", `/threads/${encodeURIComponent(id)}/version`, { signal: leaving.signal }).then(
      ({ body }) => setFound(body),
      () => leaving.signal.aborted || setFound(undefined),
    );
    return () => leaving.abort();
  }, [id, updatedAt, reloaded]);
  return found;
}
