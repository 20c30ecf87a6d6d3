/**
 * Helper API of the Studio started from the terminal. `studio` shows values that graphs hide and
 * exports a thread as one file; `dev` also reports reloads and load errors, and opens and writes
 * project files.
 */
import { timingSafeEqual } from "node:crypto";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Static, TObject } from "@sinclair/typebox";
import { Type } from "../../support/schema-builder.js";
import express, { type Request, type RequestHandler, type Router } from "express";
import { StringEnum } from "../../models/common.js";
import { StateAtCheckpointRequest, ThreadStateSearchRequest } from "../../models/state.js";
import type {
  StudioCase,
  StudioEvent,
  StudioFault,
  StudioHello,
  StudioNodeRun,
  StudioReplay,
  StudioShadow,
} from "../../models/studio.js";
import { MAX_PATH_LENGTH } from "../../models/value-path.js";
import type { Service } from "../../service/service.js";
import { GraphServeError } from "../../support/errors.js";
import { validatePayload } from "../core/validation.js";
import { readJson } from "../core/request.js";

export interface PageHelpers {
  /** 128 bits, of one process or one project. Requests send it in `x-studio-token`; the page does not contain it. */
  readonly token: string;
  hello(): Promise<StudioHello>;
  /** Calls `listener` for every following event; returns a function that stops it. */
  listen(listener: (event: StudioEvent) => void): () => void;
  /** States as the public API does not show them: all values, or only values visible to clients. */
  otherStates(): HelperStateReader;
  /**
   * The thread as a single HTML page.
   * @throws NotFoundError (`thread_not_found`), before the first piece
   */
  page(threadId: string, options: PageOptions): AsyncGenerator<string>;
  /** The results of the last `shadow --studio`; null without any. */
  shadow(): Promise<StudioShadow | null>;
  /**
   * The exception of a run with its source position; undefined if it threw nothing.
   * @throws NotFoundError (`run_not_found`)
   */
  fault(threadId: string, runId: string): Promise<StudioFault | undefined>;
}

export interface PageOptions {
  /** Keeps values that look like secrets or have secret-like names. */
  keepsSecrets: boolean;
}

/** Additional helpers with access to a project's graphs. */
export interface StudioHelpers extends PageHelpers {
  /**
   * Opens a file in the user's editor.
   * @throws InvalidRequestError for a file that does not belong to the project's graphs, or if no
   *   editor can be opened
   */
  open(place: OpenRequest): Promise<void>;
  /**
   * Creates a case file from a run, as a preview or written to disk.
   * @throws NotFoundError, ThreadBusyError, InvalidRequestError, ConfigError if it cannot be
   *   created or written
   */
  makeCase(request: CaseRequest): Promise<StudioCase>;
  /** Ids of the runs whose model and tool calls were recorded. */
  recordedRuns(): Promise<string[]>;
  /**
   * Starts a replay on a copy of the run's thread; it continues after this returns.
   * @throws NotFoundError, InvalidRequestError if the run cannot be replayed
   */
  startReplay(request: ReplayRequest): Promise<StudioReplay>;
  /**
   * Runs the tasks after a checkpoint again with the current code, on a copy of the thread. Resolves at their end, or
   * after `left` aborted them.
   * @throws NotFoundError, InvalidRequestError if nothing runs after the checkpoint
   */
  runNode(request: NodeRunRequest, left: AbortSignal): Promise<StudioNodeRun>;
  /** State of a replay. @throws NotFoundError (`thread_not_found`) */
  replay(threadId: string): StudioReplay;
}

export type HelperStateReader = ReturnType<Service["statesShowing"]>;

const OpenRequest = Type.Object(
  {
    file: Type.String({ description: "Absolute path of a watched file." }),
    line: Type.Integer({ minimum: 1, description: "Line, from 1." }),
    column: Type.Optional(Type.Integer({ minimum: 1, description: "Column, from 1." })),
  },
  { additionalProperties: false },
);
export type OpenRequest = Static<typeof OpenRequest>;

const CaseRequest = Type.Object(
  {
    thread_id: Type.String({ format: "uuid", description: "Thread of the run." }),
    run_id: Type.String({ format: "uuid", description: "The run." }),
    file: Type.Optional(Type.String({ maxLength: 500, description: "Path relative to the project folder." })),
    write: Type.Optional(
      Type.Boolean({ description: "Write the file; otherwise only a preview is returned." }),
    ),
    replace: Type.Optional(Type.Boolean({ description: "Overwrite an existing file." })),
    expect: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_PATH_LENGTH,
        description: "Path of the only final value to expect. An existing file is extended by it.",
      }),
    ),
  },
  { additionalProperties: false },
);
export type CaseRequest = Static<typeof CaseRequest>;

const ReplayRequest = Type.Object(
  {
    thread_id: Type.String({ format: "uuid", description: "Thread of the run." }),
    run_id: Type.String({ format: "uuid", description: "The run." }),
    recorded: Type.Optional(Type.Boolean({ description: "Use the run's recorded responses." })),
  },
  { additionalProperties: false },
);
export type ReplayRequest = Static<typeof ReplayRequest>;

const NodeRunRequest = Type.Object(
  {
    thread_id: Type.String({ format: "uuid", description: "Thread of the checkpoint." }),
    checkpoint_id: Type.String({ description: "Checkpoint before the tasks." }),
    step_id: Type.Optional(Type.String({ description: "Checkpoint after them, to compare with." })),
    shows: Type.Optional(StringEnum(["clients", "all"], { description: "The state keys to return." })),
  },
  { additionalProperties: false },
);
export type NodeRunRequest = Static<typeof NodeRunRequest>;

const BODY_BYTES = 10_000;
const KEEP_ALIVE_MS = 15_000;

export function studioHelpers(helpers: PageHelpers | StudioHelpers): Router {
  const router = express.Router();
  router.use(onlyOwnPage(helpers.token));
  router.get("/hello", async (_req, res) => {
    res.set("Cache-Control", "no-store").json(await helpers.hello());
  });
  router.get("/events", (req, res) => {
    res.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
    res.write(": here\n\n");
    const forget = helpers.listen(({ event, data }) => {
      res.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    });
    const timer = setInterval(() => res.write(": here\n\n"), KEEP_ALIVE_MS);
    req.once("close", () => {
      clearInterval(timer);
      forget();
    });
  });
  serveStates(router, helpers);
  router.get("/threads/:thread_id/page", async (req, res) => {
    const pieces = helpers.page(req.params.thread_id, { keepsSecrets: req.query.secrets === "kept" });
    // Reports a missing thread before headers are sent.
    const first = await pieces.next();
    res.writeHead(200, {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Disposition": "attachment",
      "Cache-Control": "no-store",
    });
    if (!first.done) res.write(first.value);
    await pipeline(Readable.from(pieces), res);
  });
  router.get("/shadow", async (_req, res) => {
    res.set("Cache-Control", "no-store").json(await helpers.shadow());
  });
  router.get("/threads/:thread_id/runs/:run_id/fault", async (req, res) => {
    const fault = await helpers.fault(req.params.thread_id, req.params.run_id);
    res.set("Cache-Control", "no-store").json(fault ?? null);
  });
  if ("open" in helpers) serveProject(router, helpers);
  return router;
}

function serveProject(router: Router, helpers: StudioHelpers): void {
  router.post("/open", async (req, res) => {
    await helpers.open(await bodyOf(req, OpenRequest));
    res.status(204).end();
  });
  router.post("/cases", async (req, res) => {
    res.set("Cache-Control", "no-store").json(await helpers.makeCase(await bodyOf(req, CaseRequest)));
  });
  router.get("/recordings", async (_req, res) => {
    res.set("Cache-Control", "no-store").json(await helpers.recordedRuns());
  });
  router.post("/replays", async (req, res) => {
    res.status(201).json(await helpers.startReplay(await bodyOf(req, ReplayRequest)));
  });
  router.post("/node-runs", async (req, res) => {
    const left = new AbortController();
    res.once("close", () => left.abort());
    const result = await helpers.runNode(await bodyOf(req, NodeRunRequest), left.signal);
    res.set("Cache-Control", "no-store").json(result);
  });
  router.get("/replays/:thread_id", (req, res) => {
    res.set("Cache-Control", "no-store").json(helpers.replay(req.params.thread_id));
  });
}

/** Read-only versions of the public API's state routes. */
function serveStates(router: Router, helpers: PageHelpers): void {
  const path = "/states/threads/:thread_id";
  router.use("/states", (_req, res, next) => {
    res.set("Cache-Control", "no-store");
    next();
  });
  router.get(`${path}/state`, async (req, res) => {
    res.json(await helpers.otherStates().get(req.params.thread_id));
  });
  router.post(`${path}/state/checkpoint`, async (req, res) => {
    const { checkpoint, subgraphs, ...flat } = await bodyOf(req, StateAtCheckpointRequest);
    const options = { checkpoint: checkpoint ?? flat, subgraphs: subgraphs ?? false };
    res.json(await helpers.otherStates().get(req.params.thread_id, options));
  });
  router.post(`${path}/history`, async (req, res) => {
    const body = await bodyOf(req, ThreadStateSearchRequest);
    const states: unknown[] = [];
    for await (const state of helpers.otherStates().walkSelected(req.params.thread_id, body))
      states.push(state);
    res.json(states);
  });
}

/** @throws InvalidRequestError */
async function bodyOf<T extends TObject>(req: Request, schema: T): Promise<Static<T>> {
  const body = await readJson(req, BODY_BYTES);
  await validatePayload(schema, body, "body");
  return body as Static<T>;
}

const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;

/**
 * Files and an editor are only accessible from this server's page, on this machine, and with the
 * token. Other pages are rejected by the browser's fetch metadata, other processes by the token,
 * which no page contains.
 */
function onlyOwnPage(token: string): RequestHandler {
  return (req, _res, next) => {
    const isHere = LOOPBACK.test(req.socket.remoteAddress ?? "");
    if (isHere && req.headers["sec-fetch-site"] === "same-origin" && hasToken(req, token)) return next();
    throw new GraphServeError("forbidden_origin", "only available in the Studio opened from the terminal", {
      hint: "open the address shown in the terminal; in dev, press s in the terminal",
    });
  };
}

function hasToken({ headers }: Request, token: string): boolean {
  const [given, wanted] = [Buffer.from(String(headers["x-studio-token"] ?? "")), Buffer.from(token)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
