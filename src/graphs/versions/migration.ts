/** A migration of stored threads to another version of their graph (docs/deploys.md). */

/**
 * Converts stored threads of one version of a graph to another. The file in the setting `migrations` exports a list of
 * them as its default export.
 * @example
 * ```ts
 * import type { Migration } from "graph-serve";
 *
 * const migrations: Migration[] = [
 *   {
 *     from: "ed9be1ce9ea1",
 *     nodes: { ask: "question" },
 *     state: ({ name, ...others }) => ({ ...others, full_name: name }),
 *   },
 * ];
 * export default migrations;
 * migrations[0]?.nodes; // => { ask: "question" }
 * ```
 */
export interface Migration {
  /** Id of the graph; default: every graph. */
  graph?: string;
  /**
   * Versions of the threads, or their first characters, at least 4; `none` for threads that were last run by a release
   * without versions.
   */
  from: string | readonly string[];
  /** The resulting version, if another migration converts it further; default: the current version. */
  to?: string;
  /** New names of nodes by their old names. `child|ask` names the node `ask` of the subgraph in the node `child`. */
  nodes?: Readonly<Record<string, string>>;
  /**
   * Returns the new state of the root graph. Keys that it leaves out are removed.
   * @param values the stored state; may be changed
   */
  state?: (
    values: Record<string, unknown>,
  ) => Readonly<Record<string, unknown>> | Promise<Readonly<Record<string, unknown>>>;
}

/** A migration of the file, with its place for messages. */
export interface FiledMigration extends Migration {
  from: readonly string[];
  /** The versions in `from`, as the file spells them. */
  key: string;
  /** `file:line`, relative to the project. */
  place: string;
}

/** Why a thread is not converted. */
export class MigrationRefusal extends Error {
  /** The migration that failed; undefined if it is the one that is applied. */
  readonly by: FiledMigration | undefined;

  constructor(message: string, by?: FiledMigration) {
    super(message);
    this.by = by;
  }
}

/** The migrations of a project. */
export interface Migrations {
  /** Folder against which the path of the file is resolved. */
  readonly cwd: string;
  /** Absolute paths of the file and of every project file that it imports; empty until it is loaded. */
  readonly files: readonly string[];
  /**
   * Reloads the file. If that fails, the last loaded one stays in use.
   * @throws ConfigError (`config_invalid`), GraphLoadError (`graph_load_failed`)
   */
  reload(): Promise<void>;
  /**
   * The migrations that lead from one version of a graph to another, in their order; empty if there are none.
   * @param from null for a thread without a version
   * @throws MigrationRefusal if they are ambiguous, or end at another version
   */
  path(graphId: string, from: string | null, current: string): Promise<readonly FiledMigration[]>;
}
