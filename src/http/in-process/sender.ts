/**
 * Who sends a request of this process to itself: a run, or a route of `http_app` on behalf of its client. Such a request
 * acts for the same user, and needs no key.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Caller } from "../../models/caller.js";
import type { Service } from "../../service/service.js";

export interface InProcessSender {
  /** Undefined for the server's own runs, and where users are not told apart. */
  caller: Caller | undefined;
  /** Name of the API key of the client's request. */
  key?: string;
  /** Set for a run. */
  within?: { thread_id: string };
}

interface ClientRequest {
  service: Service;
  sender: InProcessSender;
}

const clientRequests = new AsyncLocalStorage<ClientRequest>();

/** Connections of this process to itself. Only its own code has them, so that nothing in a request can forge one. */
const connections = new WeakMap<object, InProcessSender>();

/** Call `work`, such as a route of `http_app`, as part of a client's request that has passed the guards of `service`. */
export const withinRequest = <T>(service: Service, sender: InProcessSender, work: () => T): T =>
  clientRequests.run({ service, sender }, work);

/**
 * On whose behalf the code works that is being executed; undefined for code of no run and no request, and for that of
 * another server of this process: it has to identify itself as every client.
 */
export function currentSender(service: Service): InProcessSender | undefined {
  const run = service.currentRun();
  if (run) return run;
  const request = clientRequests.getStore();
  return request?.service === service ? request.sender : undefined;
}

/** Requests that come by `connection` are sent by `sender`. */
export function trackSender(connection: Duplex, sender: InProcessSender): void {
  connections.set(connection, sender);
}

/** Who in this process sends the request; undefined for every request from outside. */
export const inProcessSender = ({ socket }: IncomingMessage): InProcessSender | undefined =>
  connections.get(socket);
