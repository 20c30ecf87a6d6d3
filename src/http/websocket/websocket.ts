/** A thread's events and commands over one WebSocket. */
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { Writable } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import {
  CHANNELS,
  CommandError,
  type EventFilter,
  type EventStream,
  passes,
  ProtocolCommand,
  SOCKET_PARAMS,
  type UnsubscribeParams,
} from "../../models/protocol.js";
import { FramesLostError } from "../../models/run-stream.js";
import type { CallerService, CommandService } from "../../service/service.js";
import { GraphServeError, InvalidRequestError } from "../../support/errors.js";
import { newId } from "../../support/ids.js";
import type { Logger } from "../../support/log.js";
import { headersOfSocket } from "../core/configurable-headers.js";
import { HEARTBEAT_MS } from "../core/event-stream.js";
import { ResponseWriter, type WriteBudget } from "../core/response-writer.js";
import { parseJson } from "../core/json-body.js";
import { commandAnswer, executeCommand, paramsOf } from "../core/protocol-command.js";
import { validatePayload } from "../core/validation.js";
import { type Subscription, Subscriptions } from "./subscriptions.js";
import { upgradeOf } from "./upgrades.js";

/** Maximum number of concurrent subscriptions per socket. */
const MOST_SUBSCRIPTIONS = 100;
/** Maximum number of queued messages per socket; beyond it, the socket is paused. */
const MOST_WAITING = 100;
/** Clients do not reconnect after a close code of 4000 plus a 4xx status. */
const REFUSED = 4000;
const GOING_AWAY = 1001;
const FAILED = 1011;
/** Number of unanswered pings after which a peer counts as disconnected. */
const MOST_PINGS = 6;

interface SocketCall {
  service: CallerService;
  threadId: string;
  serviceFor?: CommandService;
}

/**
 * Upgrades a request to a WebSocket and serves the thread on it.
 * @throws GraphServeError for a plain request (`route_not_found`)
 */
export function acceptSocket(
  res: ServerResponse,
  call: SocketCall,
  unread: WriteBudget,
  logger: Logger,
): Promise<void> {
  const { req } = res;
  const upgrade = upgradeOf(req);
  if (!upgrade)
    throw new GraphServeError(
      "route_not_found",
      "GET requires a WebSocket upgrade; use POST to stream events",
    );
  const { settings } = call.service;
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: settings.body_limit,
  });
  res.statusCode = 101;
  res.detachSocket(upgrade.socket as never);
  return new Promise((resolve) => {
    upgrade.socket.once("close", () => {
      res.emit("close");
      resolve();
    });
    server.handleUpgrade(req, upgrade.socket, upgrade.head, (socket) => {
      new ThreadSocket(socket, { ...call, headers: req.headers }, unread, logger).serve();
    });
  });
}

class ThreadSocket {
  readonly #socket: WebSocket;
  readonly #call: SocketCall;
  readonly #withHeaders: ReturnType<typeof headersOfSocket>;
  readonly #writer: ResponseWriter;
  readonly #logger: Logger;
  readonly #subscriptions = new Subscriptions(async (text) => this.#writer.write(Buffer.from(`${text}\n`)));
  /** Event stream shared by all subscriptions, opened by the first one. */
  #stream: Promise<EventStream> | undefined;
  #pings = 0;
  /** Received messages that have not been processed. */
  readonly #waiting: Buffer[] = [];
  #isBusy = false;

  constructor(
    socket: WebSocket,
    call: SocketCall & { headers: IncomingHttpHeaders },
    unread: WriteBudget,
    logger: Logger,
  ) {
    this.#socket = socket;
    this.#call = call;
    this.#withHeaders = headersOfSocket(call.headers, call.service.settings.configurable_headers);
    this.#logger = logger;
    this.#writer = new ResponseWriter(unread, messagesOf(socket), { thread_id: call.threadId });
  }

  serve(): void {
    const socket = this.#socket;
    const heartbeat = setInterval(() => this.#ping(), HEARTBEAT_MS).unref();
    socket.on("pong", () => (this.#pings = 0));
    socket.on("message", (data: Buffer) => this.#take(data));
    socket.on("error", () => socket.terminate());
    socket.once("close", () => {
      clearInterval(heartbeat);
      void this.#stream?.then((stream) => stream.disconnect());
    });
    this.#run(async () => this.#call.service.protocol.reach(this.#call.threadId));
  }

  #ping(): void {
    if (this.#pings >= MOST_PINGS) return this.#socket.terminate();
    this.#pings += 1;
    this.#socket.ping();
  }

  /** Runs `work`; an error that cannot be reported in a reply closes the socket. */
  #run(work: () => Promise<unknown>): void {
    work().catch((error: unknown) => {
      if (this.#socket.readyState !== this.#socket.OPEN) return;
      if (error instanceof GraphServeError && error.status < 500)
        return this.#socket.close(REFUSED + error.status, error.message.slice(0, 100));
      this.#logger.error({ err: error, thread_id: this.#call.threadId }, "WebSocket failed");
      this.#socket.close(error instanceof FramesLostError ? GOING_AWAY : FAILED);
    });
  }

  /** Executes a socket's commands one at a time and in order; pauses the socket while too many are queued. */
  #take(data: Buffer): void {
    this.#waiting.push(data);
    if (this.#waiting.length >= MOST_WAITING) this.#socket.pause();
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.#run(async () => {
      for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
        if (this.#socket.isPaused && this.#waiting.length < MOST_WAITING) this.#socket.resume();
        const command = await this.#read(next);
        if (command) await this.#execute(command);
      }
      this.#isBusy = false;
    });
  }

  /** Parses a command; replies `invalid_argument` if it is not one. */
  async #read(data: Buffer): Promise<ProtocolCommand | undefined> {
    let id: unknown = null;
    try {
      const message = parseJson(data) as { id?: unknown } | null;
      id = message?.id;
      await validatePayload(ProtocolCommand, message, "body");
      return message as unknown as ProtocolCommand;
    } catch (error) {
      const isKnown = Number.isInteger(id);
      const message = error instanceof InvalidRequestError ? error.message : "the message is not valid JSON";
      await this.#send({ type: "error", id: isKnown ? id : null, error: "invalid_argument", message });
      return undefined;
    }
  }

  async #execute(command: ProtocolCommand): Promise<void> {
    const { method } = command;
    if (method === "subscription.subscribe") return this.#subscribe(command);
    if (method === "subscription.unsubscribe") return this.#unsubscribe(command);
    await this.#send(await executeCommand(this.#call, this.#withHeaders?.(command) ?? command));
  }

  /** The reply must be sent before the events. */
  async #subscribe(command: ProtocolCommand): Promise<void> {
    let subscription: Subscription | undefined;
    const answer = await commandAnswer(command.id, async () => {
      const filter = (await paramsOf(SOCKET_PARAMS["subscription.subscribe"], command)) as EventFilter;
      const stream = await this.#reading();
      if (this.#subscriptions.count >= MOST_SUBSCRIPTIONS)
        throw new CommandError(
          "invalid_argument",
          `the limit of ${MOST_SUBSCRIPTIONS} subscriptions is reached`,
        );
      subscription = { id: newId(), filter };
      this.#subscriptions.take(subscription);
      const replayed_events = stream.retained().filter((frame) => passes(filter, frame)).length;
      const result = { subscription_id: subscription.id, replayed_events };
      return { result, threadId: stream.thread_id, appliedThroughSeq: stream.lastSeq };
    });
    void this.#send(answer);
    if (subscription) await this.#subscriptions.begin(subscription);
  }

  async #unsubscribe(command: ProtocolCommand): Promise<void> {
    const answer = await commandAnswer(command.id, async () => {
      const params = await paramsOf(SOCKET_PARAMS["subscription.unsubscribe"], command);
      const { subscription_id } = params as UnsubscribeParams;
      if (!this.#subscriptions.remove(subscription_id))
        throw new CommandError("no_such_subscription", `subscription "${subscription_id}" does not exist`);
      return this.#call.service.protocol.nothing(this.#call.threadId);
    });
    await this.#send(answer);
  }

  /** The thread's event stream, opened on first use. */
  #reading(): Promise<EventStream> {
    this.#stream ??= this.#open().catch((error: unknown) => {
      this.#stream = undefined;
      throw error;
    });
    return this.#stream;
  }

  async #open(): Promise<EventStream> {
    const { service, threadId } = this.#call;
    const stream = await service.protocol.events(threadId, { channels: [...CHANNELS] });
    if (this.#socket.readyState !== this.#socket.OPEN) stream.disconnect();
    this.#run(async () => {
      await this.#subscriptions.follow(stream);
      // The stream was ended by the server.
      this.#socket.close(GOING_AWAY);
    });
    return stream;
  }

  #send(message: object): Promise<boolean> {
    return this.#subscriptions.answer(JSON.stringify(message));
  }
}

const LINE_END = 10;

/** A stream of messages, each terminated by a newline; large messages arrive in pieces. */
function messagesOf(socket: WebSocket): Writable {
  const out = new Writable({
    write: (chunk: Buffer, _, done) => {
      if (socket.readyState !== socket.OPEN) return done();
      socket.send(chunk, { binary: false, fin: chunk.at(-1) === LINE_END }, () => done());
    },
    destroy: (error, done) => {
      socket.terminate();
      done(error);
    },
  });
  socket.once("close", () => out.destroy());
  return out;
}
