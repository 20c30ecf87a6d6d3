/**
 * Sender of a request of this process to itself: a run, or a route of `http_app` on behalf of its
 * client. The request acts for the same user and needs no API key.
 */
import { AsyncLocalStorage } from "node:async_hooks";
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
 * The senders of the in-memory connections of this process, by socket; external requests have none. Only its own code
 * can add one, so a request cannot forge it.
 */
export const inProcessSenders = new WeakMap<Duplex, InProcessSender>();

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
