/** What `dev` does for its Studio: reports reloads and errors, turns runs into cases, and opens files in the editor. */
import { spawn } from "node:child_process";
import { basename } from "node:path";
import type {
  CaseRequest,
  NodeRunRequest,
  OpenRequest,
  ReplayRequest,
  StudioHelpers,
} from "../../http/studio/helpers.js";
import type {
  LoadFault,
  StudioCase,
  StudioEvent,
  StudioHello,
  StudioNodeRun,
  StudioReplay,
} from "../../models/studio.js";
import type { Service } from "../../service/service.js";
import { type GraphServeError, InvalidRequestError, NotFoundError } from "../../support/errors.js";
import { errorMessage } from "../../support/errors/thrown.js";
import type { Session } from "../session/session.js";
import { hasSavedShadow } from "../shadow/saved.js";
import type { Replays } from "./studio-replays.js";
import { newToken } from "./studio-token.js";
import { ThreadHelpers } from "./thread-helpers.js";

/** The current state to report; it changes with the settings. */
interface HelperState {
  readonly service: Service;
  /** Absolute paths of the files of the project. */
  readonly files: readonly string[];
  /** Whether these files are reloaded when they change. */
  readonly isWatching: boolean;
  readonly baseDir: string;
  /** Folder of the recordings. */
  readonly transcripts: string;
  /** Folders of recordings: of `dev --record`, and of the setting `recording`. */
  readonly recordings: readonly string[];
  /** Whether the setting `recording` keeps recordings in the storage. */
  readonly recordsInStorage: boolean;
  /** Regular expressions of texts that the recordings do not contain. */
  readonly redact: readonly string[];
  /** All variables, to remove the values of secrets from recordings. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export class DevHelpers extends ThreadHelpers implements StudioHelpers {
  /** Replaced by the project's token before the server listens. */
  token = newToken();
  protected readonly shows = "clients";
  readonly #session: Session;
  readonly #state: () => HelperState;
  /** Files written by this Studio. */
  readonly #written = new Set<string>();
  #replays: Replays | undefined;
  readonly #listeners = new Set<(event: StudioEvent) => void>();
  #faults: ReadonlyMap<string, GraphServeError> = new Map();
  #reloadedAt: string | null = null;
  #loads = 0;

  /** `state` is called only after the server listens. */
  constructor(session: Session, state: () => HelperState) {
    super(state);
    this.#session = session;
    this.#state = state;
  }

  async hello(): Promise<StudioHello> {
    const { service, baseDir, isWatching } = this.#state();
    const graphs = await service.graphs();
    const standIns = service.graphFaults();
    const faults = new Map([...standIns, ...this.#faults]);
    return {
      place: baseDir,
      shows: this.shows,
      graphs: graphs.map(({ id }) => id),
      faults: [...faults].map(([id, fault]) => faultToTell(id, fault, !standIns.has(id))),
      reloaded_at: this.#reloadedAt,
      loads: isWatching ? this.#loads : null,
      has_shadow: hasSavedShadow(baseDir),
    };
  }

  listen(tell: (event: StudioEvent) => void): () => void {
    this.#listeners.add(tell);
    return () => this.#listeners.delete(tell);
  }

  /** Reports a reload and its errors. */
  async noteLoad(faults: ReadonlyMap<string, GraphServeError>): Promise<void> {
    this.#faults = faults;
    this.#loads += 1;
    if (faults.size === 0) this.#reloadedAt = new Date().toISOString();
    if (this.#listeners.size === 0) return;
    const data = await this.hello();
    for (const tell of this.#listeners) tell({ event: faults.size === 0 ? "reloaded" : "load_failed", data });
  }

  async open(place: OpenRequest): Promise<void> {
    if (!this.#state().files.includes(place.file) && !this.#written.has(place.file))
      throw InvalidRequestError.at(["body", "file"], "is not a source file of the served graphs");
    const [command, args] = editorCall(this.#session.io.env, place);
    await start(command, args);
  }

  async makeCase(request: CaseRequest): Promise<StudioCase> {
    const { makeCase } = await import("./studio-cases.js");
    const made = await makeCase(this.#session, this.#state(), request);
    if (made.written) this.#written.add(made.file);
    return made;
  }

  async recordedRuns(): Promise<string[]> {
    const { recordedRuns } = await import("./studio-replays.js");
    return recordedRuns(this.#state());
  }

  async startReplay(request: ReplayRequest): Promise<StudioReplay> {
    const { Replays } = await import("./studio-replays.js");
    this.#replays ??= new Replays();
    return this.#replays.start(this.#state(), request);
  }

  async runNode(request: NodeRunRequest, left: AbortSignal): Promise<StudioNodeRun> {
    const { runNode } = await import("./studio-node-runs.js");
    return runNode(this.#state(), request, left);
  }

  replay(threadId: string): StudioReplay {
    const found = this.#replays?.of(threadId);
    if (!found) throw new NotFoundError("thread", threadId);
    return found;
  }
}

function faultToTell(id: string, { message, hint, location }: GraphServeError, served: boolean): LoadFault {
  return {
    graph_id: id,
    message,
    hint: hint ?? null,
    location:
      location?.line === undefined
        ? null
        : {
            file: location.file,
            line: location.line,
            column: location.column ?? 1,
            frame: location.frame ?? "",
          },
    served,
  };
}

const AT_COLON = /^(subl|zed|atom|mate|micro)$/;
const WITH_LINE = /^(idea|webstorm|phpstorm|pycharm|goland|clion|rider|fleet)(64)?$/;
const IN_TERMINAL = /^(vi|vim|nvim|nano|pico|emacs|ed|joe|hx|helix|kak)$/;

/**
 * The editor from the environment (default `code`) and its arguments to open the location. Never runs through a shell.
 * @throws InvalidRequestError if the editor needs a terminal
 */
export function editorCall(
  env: NodeJS.ProcessEnv,
  { file, line, column = 1 }: OpenRequest,
): [string, string[]] {
  const named = env.LAUNCH_EDITOR ?? env.VISUAL ?? env.EDITOR ?? "code";
  const [command = "code", ...flags] = named.trim().split(/\s+/);
  const name = basename(command).replace(/\.(exe|cmd)$/i, "");
  if (IN_TERMINAL.test(name))
    throw new InvalidRequestError(
      `${name} needs a terminal; set an editor with a window, such as LAUNCH_EDITOR=code, and restart dev`,
    );
  const at = `${file}:${line}:${column}`;
  if (AT_COLON.test(name)) return [command, [...flags, at]];
  if (WITH_LINE.test(name)) return [command, [...flags, "--line", String(line), file]];
  return /^(code|code-insiders|codium|cursor|windsurf)$/.test(name)
    ? [command, [...flags, "-g", at]]
    : [command, [...flags, file]];
}

/** @throws InvalidRequestError if the editor does not start */
function start(command: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: "ignore", detached: true, shell: false });
    child.once("spawn", () => {
      child.unref();
      resolve();
    });
    child.once("error", (error) =>
      reject(
        new InvalidRequestError(
          `the editor ${command} failed to start (${errorMessage(error)}); set another one with LAUNCH_EDITOR`,
        ),
      ),
    );
  });
}
