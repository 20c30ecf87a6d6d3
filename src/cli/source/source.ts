import type { Service } from "../../service.js";
import type { Thread } from "../../models/thread.js";
import type { StoredCheckpoint } from "../../models/thread-file.js";
import type { PlaceFlags } from "../run/outcome.js";

/**
 * Threads and what belongs to them, read from the storage itself or from a server: the same calls, the same answers,
 * the same errors. Opened by `openSource`, closed by the command.
 */
export interface Source {
  readonly threads: Pick<
    Service["threads"],
    "search" | "count" | "get" | "create" | "update" | "delete" | "copy"
  >;
  readonly runs: Pick<Service["runs"], "list" | "get">;
  readonly state: Pick<Service["state"], "get" | "history" | "update">;
  readonly assistants: Pick<Service["assistants"], "search" | "get" | "schemas" | "draw" | "subgraphs">;
  /** A thread's checkpoints as they are stored; undefined for a server, which shows states only. */
  readonly stored?: (threadId: string) => AsyncIterable<StoredCheckpoint>;
  /** Where this is, for people: `sqlite .graph-serve/dev.db`, or the server's address. */
  readonly place: string;
  /** The flags that lead another command to the same place. */
  readonly placeFlags: PlaceFlags;
  /** How `graph-serve run` names the graph of this thread; undefined for the one it takes by itself. */
  graphOf(thread: Partial<Pick<Thread, "metadata">>): string | undefined;
  /** What hides values of this thread: its graph is not there, or does not load. Ask after its state was read. */
  whyHidden(thread: Partial<Pick<Thread, "metadata">>): string | undefined;
  close(): Promise<void>;
}

/** The flags of every command that has a source. */
export interface SourceFlags extends PlaceFlags {
  /** Show what the graph's output schema hides; offline only. */
  raw?: boolean;
}
