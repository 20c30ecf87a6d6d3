/** Opens the storage whose runs are repeated, for reading only, and the graphs that repeat them, in memory. */
import { join, resolve } from "node:path";
import type { Client } from "../../client/client.js";
import { parseGraphTarget } from "../../config/graph-target.js";
import type { LoadedConfig } from "../../config/load.js";
import { inMemory } from "../../config/local-settings.js";
import { keepsNoRecordings } from "../../config/recording-settings.js";
import { MAX_LIMIT } from "../../models/common.js";
import type { Service } from "../../service/service.js";
import { caseSettings } from "../../testing/graphs.js";
import { callsInFolder, storedCalls } from "../../testing/recording/production.js";
import type { RecordedRuns } from "../../testing/shadow/calls.js";
import type { ShadowGraph } from "../../testing/shadow/play.js";
import type { ShadowGraphs } from "../../testing/shadow/shadow.js";
import {
  openConfigured,
  openStorageOf,
  requireGraphs,
  storageConfig,
  TRANSCRIPTS,
  withRememberedGraphs,
} from "../session/open.js";
import { clientOf, isEphemeral } from "../session/open-client.js";
import type { PlaceFlags } from "../session/options.js";
import type { Session } from "../session/session.js";
import { graphAgainst, requireGraph } from "../versions/against.js";

export interface SourceFlags extends PlaceFlags {
  against?: string;
  graph?: string;
  /** Exported threads to read instead of a storage. */
  file?: string[];
  /** Folder of recorded runs. */
  recordings?: string;
}

/** Sources of graphs by id: those to check, and those to compare with where results differ. */
interface Sources {
  config: LoadedConfig;
  targets: Readonly<Record<string, string>>;
  /** Undefined without `--against`, or if the file is the configured one. */
  controls: Readonly<Record<string, string>>;
  /** The only graph whose runs are repeated; undefined for all. */
  graphId: string | undefined;
}

/** @throws ConfigError, InvalidRequestError for an unknown graph */
async function sourcesOf(session: Session, { against, graph, ...flags }: SourceFlags): Promise<Sources> {
  const loaded = await storageConfig(session, flags);
  const { config } = await withRememberedGraphs(loaded, session.io.cwd);
  const { graphs } = config.settings;
  if (against === undefined) {
    requireGraphs(config.settings);
    if (graph !== undefined) requireGraph(graph, graphs);
    return { config, targets: graphs, controls: {}, graphId: graph };
  }
  const { replaced, source } = await graphAgainst(session, config, { ...flags, against, graph });
  const control = graphs[replaced];
  const hasControl = control !== undefined && !isSame(control, source, config.baseDir);
  return {
    config,
    targets: { [replaced]: source },
    controls: hasControl ? { [replaced]: control } : {},
    graphId: replaced,
  };
}

function isSame(a: string, b: string, baseDir: string): boolean {
  const [one, other] = [a, b].map((source) => parseGraphTarget(source));
  return (
    resolve(baseDir, one?.path ?? "") === resolve(baseDir, other?.path ?? "") &&
    one?.exportName === other?.exportName
  );
}

export interface ShadowPlaces {
  source: Client;
  graphs: (graphId: string | undefined) => Promise<ShadowGraphs>;
  graphId: string | undefined;
  /** Whether the unchanged graph is known. */
  hasControl: boolean;
  config: LoadedConfig;
  recorded: RecordedRuns;
  close(): Promise<void>;
}

/**
 * @throws ConfigError, GraphLoadError if the graph to check does not load
 * @throws StorageUnavailableError (`storage_unavailable`), GraphServeError (`server_unreachable`)
 */
export async function openPlaces(session: Session, flags: SourceFlags): Promise<ShadowPlaces> {
  const { config, targets, controls, graphId } = await sourcesOf(session, flags);
  const source = await openSource(session, flags, config);
  // Servers and exported files have only the keys of the output schema, so both sides are read that way.
  const unfiltered = flags.file === undefined && source.stored !== undefined;
  const open = once((key) => {
    const [role = "", id = ""] = key.split("\n");
    const file = (role === "target" ? targets : controls)[id];
    return file === undefined ? undefined : openGraph(config, id, file, unfiltered);
  });
  const recorded = openRecordings(session, flags, config);
  return {
    ...{ source, graphId, config, recorded, hasControl: Object.keys(controls).length > 0 },
    graphs: async (id = "") => {
      const target = await open.get(`target\n${id}`);
      // The unchanged graph can be broken, which must not fail the check of its repair.
      const control = await open.get(`control\n${id}`).catch(() => undefined);
      return { target, control };
    },
    close: async () => {
      await Promise.all((await open.all()).map((graph) => graph.close()));
      await recorded.close();
      await source.close();
    },
  };
}

/** The recordings of `--recordings`, else those of the setting `recording`, else those of `dev`. */
function openRecordings(
  { io }: Session,
  { recordings: folder }: SourceFlags,
  config: LoadedConfig,
): RecordedRuns & { close(): Promise<void> } {
  const { recording } = config.settings;
  if (folder === undefined && recording?.where === "storage") return recordingsInStorage(config);
  // A folder of a flag is relative to the working directory, one of a setting to the configuration.
  const own =
    folder === undefined
      ? resolve(config.baseDir, recording?.folder ?? TRANSCRIPTS)
      : resolve(io.cwd, folder);
  return {
    read: (threadId, id) => callsInFolder(own, threadId, id),
    nameOf: (id) => join(own, `${id}.jsonl`),
    close: async () => undefined,
  };
}

/** With `--url` and `--file` too, the storage is the configured one. */
function recordingsInStorage(config: LoadedConfig): RecordedRuns & { close(): Promise<void> } {
  let opened: Promise<Service> | undefined;
  return {
    read: async (_threadId, id) => {
      const { recordings, storage } = await (opened ??= openStorageOf(config, "read"));
      if (!recordings) throw keepsNoRecordings(storage.scheme);
      return storedCalls(recordings, id);
    },
    nameOf: (id) => `the recording of run ${id}`,
    close: async () => (await opened)?.close(0),
  };
}

async function openSource(session: Session, flags: SourceFlags, config: LoadedConfig): Promise<Client> {
  if (flags.file !== undefined) return openFiles(session, flags.file, config);
  if (flags.url !== undefined || isEphemeral(config))
    return clientOf(session, { ...flags, raw: false }, { access: "read" });
  const service = await openConfigured(config, undefined, {
    mode: "read",
    unfiltered: true,
  });
  const { localClient } = await import("../../client/local.js");
  return localClient(service, { unfiltered: true });
}

async function openFiles({ io }: Session, files: readonly string[], config: LoadedConfig): Promise<Client> {
  const [{ readThreadFile }, { localClient }] = await Promise.all([
    import("../transfer/thread-file.js"),
    import("../../client/local.js"),
  ]);
  const settings = inMemory(config.settings);
  const service = await openConfigured({ ...config, settings }, undefined, {
    mode: "edit",
    standIns: true,
    unfiltered: true,
  });
  try {
    for (const file of files)
      await service.threads.restore(await readThreadFile(resolve(io.cwd, file), file));
    return localClient(service, { unfiltered: true });
  } catch (error) {
    await service.close(0);
    throw error;
  }
}

async function openGraph(
  config: LoadedConfig,
  id: string,
  source: string,
  unfiltered: boolean,
): Promise<ShadowGraph> {
  const settings = caseSettings(config, id, source);
  const service = await openConfigured({ ...config, settings }, undefined, { unfiltered });
  const { localClient } = await import("../../client/local.js");
  return {
    client: localClient(service, { unfiltered }),
    assistantId: id,
    restore: (file) => service.threads.restore(file),
    clearItems: () => clearItems(service),
    close: () => service.close(0),
  };
}

async function clearItems({ store }: Service): Promise<void> {
  for await (const { namespace, key } of store.walk({ limit: MAX_LIMIT }))
    await store.delete({ namespace, key });
}

/** Opens each graph on first use. */
function once(open: (key: string) => Promise<ShadowGraph> | undefined) {
  const opened = new Map<string, Promise<ShadowGraph | undefined>>();
  return {
    get(key: string) {
      const graph = opened.get(key) ?? Promise.resolve(open(key));
      opened.set(key, graph);
      return graph;
    },
    async all() {
      const settled = await Promise.allSettled(opened.values());
      return settled.flatMap((one) => (one.status === "fulfilled" && one.value ? [one.value] : []));
    },
  };
}
