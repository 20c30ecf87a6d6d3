/**
 * Sender of a request of this process to itself: a run, or a route of `http_app` on behalf of its
 * client. The request acts for the same user and needs no API key.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Caller } from "../../models/caller.js";
import type { Service } from "../../service/service.js";

export interface InProcessSender {
  /** Undefined for the server's own runs, and without users. */
  caller: Caller | undefined;
  /** Name of the API key of the client's request. */
  key?: string;
  /** Set for a run. */
  within?: { thread_id: string; traceparent?: unknown };
}

interface ClientRequest {
  service: Service;
  sender: InProcessSender;
}

const clientRequests = new AsyncLocalStorage<ClientRequest>();

/**
 * In-memory connections of this process. Only its own code can access them, so a request cannot
 * forge one.
 */
const connections = new WeakMap<object, InProcessSender>();

/**
 * Calls `work`, such as a route of `http_app`, as part of a client's request that `service` has
 * authorized.
 */
export const withinRequest = <T>(service: Service, sender: InProcessSender, work: () => T): T =>
  clientRequests.run({ service, sender }, work);

/**
 * The sender for the current code. Undefined outside of runs and requests, and for code of another
 * server in this process, which must authenticate like every client.
 */
export function currentSender(service: Service): InProcessSender | undefined {
  const run = service.currentRun();
  if (run) return run;
  const request = clientRequests.getStore();
  return request?.service === service ? request.sender : undefined;
}

/** Marks requests over `connection` as sent by `sender`. */
export function trackSender(connection: Duplex, sender: InProcessSender): void {
  connections.set(connection, sender);
}

/** The sender of a request from this process; undefined for external requests. */
export const inProcessSender = ({ socket }: IncomingMessage): InProcessSender | undefined =>
  connections.get(socket);
