/** Migrations of stored threads to another version of their graph: the file of the setting `migrations` (docs/deploys.md). */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { isRecord } from "../../models/common.js";
import { ConfigError } from "../../support/errors.js";
import { shownPath } from "../load-errors.js";
import { loadExport } from "../load.js";
import { sourceText } from "../source-positions.js";
import { type FiledMigration, type Migration, MigrationRefusal, type Migrations } from "./migration.js";

const NONE = "none";
const VERSION = /^[0-9a-f]{4,12}$/;
const KEYS = ["graph", "from", "to", "nodes", "state"];

/** The migrations of a file. Loaded on first use. */
export class MigrationFile implements Migrations {
  readonly #source: string;
  readonly cwd: string;
  #loaded: Promise<Loaded> | undefined;
  #files: readonly string[] = [];

  private constructor(source: string, cwd: string) {
    this.#source = source;
    this.cwd = cwd;
  }

  /**
   * @param source the setting `migrations`: path of the file; undefined if there are none
   * @param cwd folder against which it is resolved
   * @param options with `isLazy`, the file is loaded on first use: commands that only read do not need it
   * @throws ConfigError (`config_invalid`), GraphLoadError (`graph_load_failed`)
   */
  static async open(
    source: string | undefined,
    cwd: string,
    { isLazy }: { isLazy: boolean },
  ): Promise<MigrationFile | undefined> {
    if (source === undefined) return undefined;
    const migrations = new MigrationFile(source, cwd);
    if (!isLazy) await migrations.#load();
    return migrations;
  }

  get files(): readonly string[] {
    return this.#files;
  }

  async reload(): Promise<void> {
    const loaded = await loadMigrations(this.#source, this.cwd);
    this.#files = loaded.files;
    this.#loaded = Promise.resolve(loaded);
  }

  #load(): Promise<Loaded> {
    this.#loaded ??= loadMigrations(this.#source, this.cwd).then(
      (loaded) => {
        this.#files = loaded.files;
        return loaded;
      },
      (error: unknown) => {
        this.#loaded = undefined;
        throw error;
      },
    );
    return this.#loaded;
  }

  async path(graphId: string, from: string | null, current: string): Promise<readonly FiledMigration[]> {
    const { migrations } = await this.#load();
    const own = migrations.filter(({ graph = graphId }) => graph === graphId);
    const path: FiledMigration[] = [];
    for (let at = from; at === null || !isSame(at, current);) {
      const version = at;
      const next = own.filter((one) => !path.includes(one) && matches(one, version));
      const [found, other] = next;
      if (!found && path.length === 0) return [];
      if (!found)
        throw new MigrationRefusal(
          `it leads to version "${at ?? NONE}", from which no migration leads to the current version "${current}"`,
          path.at(-1),
        );
      if (other)
        throw new MigrationRefusal(
          `it and migration "${other.key}" (${other.place}) both convert version "${at ?? NONE}"`,
          found,
        );
      path.push(found);
      if (found.to === undefined) break;
      at = found.to;
    }
    return path;
  }
}

/** One version may be the beginning of the other. */
const isSame = (one: string, other: string): boolean => one.startsWith(other) || other.startsWith(one);

const matches = ({ from }: FiledMigration, version: string | null): boolean =>
  from.some((each) => (version === null ? each === NONE : each !== NONE && isSame(each, version)));

interface Loaded {
  migrations: readonly FiledMigration[];
  files: readonly string[];
}

async function loadMigrations(source: string, cwd: string): Promise<Loaded> {
  const path = resolve(cwd, source);
  if (!existsSync(path))
    throw new ConfigError(`migrations: file ${source} not found`, {
      hint: "check the path; it is resolved from the folder of the configuration",
    });
  const { value, files } = await loadExport({ path, exportName: "default" }, { baseDir: cwd });
  if (!Array.isArray(value))
    throw new ConfigError(`migrations: ${source} has no list of migrations as its default export`, {
      hint: 'write: export default [{ from: "ed9be1ce9ea1", nodes: { ask: "question" } }]',
    });
  const lines = sourceText(path).split("\n");
  const file = shownPath(path, cwd);
  const migrations = value.map((item: unknown, index) => filed(item, { source, index, file, lines }));
  return { migrations, files };
}

interface Place {
  source: string;
  index: number;
  file: string;
  lines: readonly string[];
}

/** @throws ConfigError (`config_invalid`) */
function filed(item: unknown, { source, index, file, lines }: Place): FiledMigration {
  const refuse = (what: string, hint?: string) =>
    new ConfigError(`migrations: item ${index + 1} of ${source}: ${what}`, { hint });
  if (!isRecord(item)) throw refuse("is not an object");
  const unknown = Object.keys(item).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) throw refuse(`unknown key "${unknown}"`, `the keys are ${KEYS.join(", ")}`);
  const { graph, to, nodes, state } = item;
  const from = [item.from].flat();
  if (from.length === 0 || !from.every(isFrom))
    throw refuse(
      "`from` must be a version, at least its first 4 characters, or `none`, or a list of them",
      "list the versions of stored threads: graph-serve versions list",
    );
  if (graph !== undefined && typeof graph !== "string") throw refuse("`graph` must be the id of a graph");
  if (to !== undefined && (typeof to !== "string" || !VERSION.test(to)))
    throw refuse("`to` must be a version, at least its first 4 characters");
  if (nodes !== undefined && !isNames(nodes))
    throw refuse("`nodes` must map old names of nodes to new ones", 'such as nodes: { ask: "question" }');
  if (state !== undefined && typeof state !== "function") throw refuse("`state` must be a function");
  const isKey = new RegExp(`["'\`]${String(from[0])}["'\`]`);
  const line = lines.findIndex((text) => isKey.test(text));
  const place = line < 0 ? file : `${file}:${line + 1}`;
  return { ...(item as unknown as Migration), from, key: from.join(", "), place };
}

const isFrom = (value: unknown): value is string =>
  typeof value === "string" && (value === NONE || VERSION.test(value));

/** New names must be names in the same graph: a node cannot be moved into another one. */
const isNames = (value: unknown): value is Record<string, string> =>
  isRecord(value) && Object.values(value).every((name) => typeof name === "string" && /^[^|:]+$/.test(name));
