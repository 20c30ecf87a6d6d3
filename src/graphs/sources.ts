/** The graphs mapping, and how each of its graphs is loaded, again and again. */
import { resolve } from "node:path";
import { GraphLoadError } from "../errors.js";
import type { LoadedGraph } from "./graph.js";
import { loadGraph } from "./load.js";
import { graphFromValue } from "./served-export.js";

/** Where a graph comes from: an export of a file, or a value that a module would export. */
export type GraphSource =
  { kind: "file"; path: string; exportName?: string } | { kind: "value"; value: unknown };

interface Found {
  loaded: LoadedGraph;
  notices: string[];
  files: string[];
}

export class GraphSources {
  readonly #sources: ReadonlyMap<string, GraphSource>;
  readonly #cwd: string;
  #files: string[] = [];
  #notices: string[] = [];

  /** Relative paths start from `cwd`. */
  constructor(sources: ReadonlyMap<string, GraphSource>, cwd: string) {
    this.#sources = sources;
    this.#cwd = cwd;
  }

  get ids(): string[] {
    return [...this.#sources.keys()];
  }

  /** Files that the last load read: graph files and what they import. */
  get files(): string[] {
    return this.#files;
  }

  get notices(): readonly string[] {
    return this.#notices;
  }

  /**
   * Load every graph; all or none.
   * @throws GraphLoadError (`graph_load_failed`)
   */
  async load(): Promise<ReadonlyMap<string, LoadedGraph>> {
    const graphs = new Map<string, LoadedGraph>();
    const files = new Set<string>();
    const notices: string[] = [];
    for (const id of this.ids) {
      const found = await this.#load(id);
      graphs.set(id, found.loaded);
      found.files.forEach((file) => files.add(file));
      notices.push(...found.notices);
    }
    this.#files = [...files];
    this.#notices = notices;
    return graphs;
  }

  /**
   * Load one graph of the mapping; `files` and `notices` stay as they are.
   * @throws GraphLoadError (`graph_load_failed`)
   */
  async loadOne(id: string): Promise<LoadedGraph> {
    return (await this.#load(id)).loaded;
  }

  async #load(id: string): Promise<Found> {
    const source = this.#sources.get(id);
    if (!source) throw new GraphLoadError(`there is no graph "${id}" in the mapping`);
    if (source.kind === "value") return { ...graphFromValue(source.value, id, this.#cwd), files: [] };
    const path = resolve(this.#cwd, source.path);
    return loadGraph({ path, exportName: source.exportName }, { baseDir: this.#cwd });
  }
}
