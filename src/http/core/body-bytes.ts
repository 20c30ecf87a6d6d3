/** The bytes of request bodies, decompressed if needed, within a memory budget for all bodies being read. */
import type { IncomingMessage } from "node:http";
import { createGunzip } from "node:zlib";
import {
  GraphServeError,
  InvalidRequestError,
  PayloadTooLargeError,
  ServerBusyError,
} from "../../support/errors.js";
import { invalidBody } from "./json-body.js";

export interface HeldBody {
  bytes: number;
  /** Set once the body is rejected in favor of others. */
  refusal?: ServerBusyError;
  /** Called when `refusal` is set. */
  onRefusal?: (refusal: ServerBusyError) => void;
}

/** Tracks the bodies that a process is reading, until they are parsed. */
export class BodyBudget {
  readonly #maxBytes: number;
  readonly #bodies = new Set<HeldBody>();
  #total = 0;

  /** @param maxBytes maximum total bytes of all bodies */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Counts bytes of a body, unless it is rejected. Beyond the limit the largest bodies are rejected, so that large bodies
   * cannot block small ones.
   */
  add(body: HeldBody, bytes: number): void {
    if (body.refusal) return;
    this.#bodies.add(body);
    this.#total += bytes;
    body.bytes += bytes;
    while (this.#total > this.#maxBytes) this.#refuseLargest();
  }

  close(body: HeldBody): void {
    if (this.#bodies.delete(body)) this.#total -= body.bytes;
  }

  #refuseLargest(): void {
    const [first, ...others] = this.#bodies;
    if (!first) return;
    const largest = others.reduce((one, other) => (other.bytes > one.bytes ? other : one), first);
    this.close(largest);
    largest.refusal = new ServerBusyError(this.#maxBytes);
    largest.onRefusal?.(largest.refusal);
  }
}

export interface BodyLimits {
  /** Maximum size of a body in bytes, also after decompression. */
  limit: number;
  budget: BodyBudget;
}

/**
 * All bytes of a body. An oversized body is rejected immediately; the rest of it is read and discarded.
 * @throws PayloadTooLargeError (`payload_too_large`), ServerBusyError (`server_busy`)
 * @throws InvalidRequestError if the body is incomplete (`invalid_request`)
 */
export function readBytes(
  req: IncomingMessage,
  { limit, budget }: BodyLimits,
  held: HeldBody,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    // Without an error at the end of the body.
    const settle = (error?: Error) => {
      req.off("data", onData).off("end", settle).off("close", onGone);
      held.onRefusal = undefined;
      if (!error) return resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size));
      chunks.length = 0;
      reject(error);
      req.resume();
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) return settle(new PayloadTooLargeError(limit));
      chunks.push(chunk);
      budget.add(held, chunk.length);
    };
    const onGone = () => settle(invalidBody("the request ended before its body was complete", "incomplete"));
    if (Number(req.headers["content-length"]) > limit) return settle(new PayloadTooLargeError(limit));
    if (req.destroyed) return onGone();
    held.onRefusal = settle;
    req.on("data", onData).on("end", settle).on("close", onGone);
  });
}

/** @throws InvalidRequestError for another encoding (`invalid_request`) */
export function isGzip(encoding: string): boolean {
  const name = encoding.trim().toLowerCase();
  if (name === "" || name === "identity") return false;
  if (name === "gzip") return true;
  throw InvalidRequestError.at(
    ["header", "content-encoding"],
    "only gzip and identity are accepted",
    "encoding",
  );
}

/** @throws the errors of `readBytes`, and InvalidRequestError for invalid gzip (`invalid_request`) */
export async function inflate(bytes: Buffer, { limit, budget }: BodyLimits, held: HeldBody): Promise<Buffer> {
  const gunzip = createGunzip();
  gunzip.end(bytes);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limit) throw new PayloadTooLargeError(limit);
      budget.add(held, chunk.length);
      if (held.refusal) throw held.refusal;
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof GraphServeError) throw error;
    throw invalidBody("body is not valid gzip", "encoding", error);
  }
  return Buffer.concat(chunks, size);
}
