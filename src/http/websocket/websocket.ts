/** A thread's events and commands over one WebSocket. */
import type { ServerResponse } from "node:http";
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
import type { CallerService } from "../../service/service.js";
import { GraphServeError, InvalidRequestError } from "../../support/errors.js";
import { newId } from "../../support/ids.js";
import type { Logger } from "../../support/log.js";
import { HEARTBEAT_MS, type ResponseWriter, type WriteBudget } from "../core/response-writer.js";
import { parseJson } from "../core/json-body.js";
import { commandAnswer, executeCommand, paramsOf } from "../core/protocol-command.js";
import { validatePayload } from "../core/request.js";
import { type Subscription, Subscriptions } from "./subscriptions.js";
import { upgradeOf } from "./upgrades.js";

/** Subscriptions of one socket at a time. */
const MOST_SUBSCRIPTIONS = 100;
/** Messages of one socket that wait; beyond them the socket is not read. */
const MOST_WAITING = 100;
/** Clients do not come back after a code of 4000 and a status of the client's fault. */
const REFUSED = 4000;
const GOING_AWAY = 1001;
const FAILED = 1011;
/** A peer that leaves so many pings without an answer is gone. */
const MOST_PINGS = 6;

interface SocketCall {
  service: CallerService;
  threadId: string;
}

/**
 * Make a WebSocket of a request, and serve the thread on it.
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
    throw new GraphServeError("route_not_found", "GET is for WebSockets here; POST streams events");
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
      new ThreadSocket(socket, call, unread, logger).serve();
    });
  });
}

class ThreadSocket {
  readonly #socket: WebSocket;
  readonly #call: SocketCall;
  readonly #outlet: ResponseWriter;
  readonly #logger: Logger;
  readonly #subscriptions = new Subscriptions(async (text) => this.#outlet.write(Buffer.from(`${text}\n`)));
  /** What all of them read, from the first on. */
  #stream: Promise<EventStream> | undefined;
  #pings = 0;
  /** Messages that were received and not read yet. */
  readonly #waiting: Buffer[] = [];
  #isBusy = false;

  constructor(socket: WebSocket, call: SocketCall, unread: WriteBudget, logger: Logger) {
    this.#socket = socket;
    this.#call = call;
    this.#logger = logger;
    this.#outlet = unread.outlet(messagesOf(socket), { thread_id: call.threadId });
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
    this.#run(async () => (await this.#call.service.protocol).reach(this.#call.threadId));
  }

  #ping(): void {
    if (this.#pings >= MOST_PINGS) return this.#socket.terminate();
    this.#pings += 1;
    this.#socket.ping();
  }

  /** Do some work; what cannot be told in an answer closes the socket. */
  #run(work: () => Promise<unknown>): void {
    work().catch((error: unknown) => {
      if (this.#socket.readyState !== this.#socket.OPEN) return;
      if (error instanceof GraphServeError && error.status < 500)
        return this.#socket.close(REFUSED + error.status, error.message.slice(0, 100));
      this.#logger.error({ err: error, thread_id: this.#call.threadId }, "a WebSocket broke off");
      this.#socket.close(error instanceof FramesLostError ? GOING_AWAY : FAILED);
    });
  }

  /** Commands of a socket are carried out one at a time, in order; while too many wait, nothing more is read. */
  #take(data: Buffer): void {
    this.#waiting.push(data);
    if (this.#waiting.length >= MOST_WAITING) this.#socket.pause();
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.#run(async () => {
      for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
        if (this.#socket.isPaused && this.#waiting.length < MOST_WAITING) this.#socket.resume();
        const command = await this.#read(next);
        if (command) await this.#carryOut(command);
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

  async #carryOut(command: ProtocolCommand): Promise<void> {
    const { service, threadId } = this.#call;
    const { method } = command;
    if (method === "subscription.subscribe") return this.#subscribe(command);
    if (method === "subscription.unsubscribe") return this.#unsubscribe(command);
    await this.#send(await executeCommand(service, threadId, command));
  }

  /** The answer comes before the events. */
  async #subscribe(command: ProtocolCommand): Promise<void> {
    let taken: Subscription | undefined;
    const answer = await commandAnswer(command.id, async () => {
      const filter = (await paramsOf(SOCKET_PARAMS["subscription.subscribe"], command)) as EventFilter;
      const stream = await this.#reading();
      if (this.#subscriptions.count >= MOST_SUBSCRIPTIONS)
        throw new CommandError("invalid_argument", `${MOST_SUBSCRIPTIONS} subscriptions are open`);
      taken = { id: newId(), filter };
      this.#subscriptions.take(taken);
      const replayed_events = stream.retained().filter((frame) => passes(filter, frame)).length;
      const result = { subscription_id: taken.id, replayed_events };
      return { result, threadId: stream.thread_id, appliedThroughSeq: stream.lastSeq };
    });
    void this.#send(answer);
    if (taken) await this.#subscriptions.begin(taken);
  }

  async #unsubscribe(command: ProtocolCommand): Promise<void> {
    const answer = await commandAnswer(command.id, async () => {
      const params = await paramsOf(SOCKET_PARAMS["subscription.unsubscribe"], command);
      const { subscription_id } = params as UnsubscribeParams;
      if (!this.#subscriptions.remove(subscription_id))
        throw new CommandError("no_such_subscription", `there is no subscription "${subscription_id}"`);
      return (await this.#call.service.protocol).nothing(this.#call.threadId);
    });
    await this.#send(answer);
  }

  /** The thread's events, read from the first subscription on. */
  #reading(): Promise<EventStream> {
    this.#stream ??= this.#open().catch((error: unknown) => {
      this.#stream = undefined;
      throw error;
    });
    return this.#stream;
  }

  async #open(): Promise<EventStream> {
    const { service, threadId } = this.#call;
    const stream = await (await service.protocol).events(threadId, { channels: [...CHANNELS] });
    if (this.#socket.readyState !== this.#socket.OPEN) stream.disconnect();
    this.#run(async () => {
      await this.#subscriptions.follow(stream);
      // It was the server that ended it.
      this.#socket.close(GOING_AWAY);
    });
    return stream;
  }

  #send(message: object): Promise<boolean> {
    return this.#subscriptions.answer(JSON.stringify(message));
  }
}

const LINE_END = 10;

/** Takes the bytes of messages, each ended by a line end; large ones come in pieces. */
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
