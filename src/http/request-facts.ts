/** What is known of a request before its route: noted by the layers in front, read by those behind. */
import type { IncomingMessage } from "node:http";
import type { Caller } from "../models/caller.js";

interface RequestFacts {
  /** Id of the request, in its answer and in the log. */
  id: string;
  /** Name of the API key that it came with. */
  key?: string;
  caller?: Caller;
  /** The body, where a layer in front of the routes has read it. */
  body?: Buffer;
}

const facts = new WeakMap<IncomingMessage, RequestFacts>();

export function noteRequest(req: IncomingMessage, id: string): void {
  facts.set(req, { id });
}

/** The facts of a request that `noteRequest` has seen; they may be added to. */
export function factsOf(req: IncomingMessage): RequestFacts {
  return facts.get(req) ?? { id: "" };
}
