import type { IncomingMessage } from "node:http";
import { PayloadTooLargeError } from "../../support/errors.js";

/**
 * A request body that can be read as a stream and then again as a whole, up to `limit` bytes. If
 * unread, it stays in the request.
 */
export class ReplayedBody {
  /** For the first reader; undefined if the request has no body. */
  readonly stream: ReadableStream<Uint8Array> | undefined;
  readonly #req: IncomingMessage;
  readonly #limit: number;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #source: AsyncIterator<Buffer> | undefined;

  constructor(req: IncomingMessage & { body?: unknown }, limit: number) {
    this.#req = req;
    this.#limit = limit;
    const { "content-length": length, "transfer-encoding": encoding } = req.headers;
    if ((length === undefined || length === "0") && encoding === undefined) return;
    this.stream = new ReadableStream(
      {
        pull: async (controller) => {
          const chunk = await this.#next();
          // A copy, because the reader may keep or modify it.
          if (chunk) controller.enqueue(Uint8Array.from(chunk));
          else controller.close();
        },
      },
      // Nothing is read until it is requested.
      { highWaterMark: 0 },
    );
  }

  /**
   * The whole body if the stream was read, otherwise undefined. @throws PayloadTooLargeError
   * (`payload_too_large`)
   */
  async bytes(): Promise<Buffer | undefined> {
    if (!this.#source) return undefined;
    while (this.#size <= this.#limit && (await this.#next()));
    if (this.#size > this.#limit) throw new PayloadTooLargeError(this.#limit);
    return Buffer.concat(this.#chunks, this.#size);
  }

  async #next(): Promise<Buffer | undefined> {
    this.#source ??= this.#req[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    const next = await this.#source.next();
    if (next.done) return undefined;
    const { value } = next;
    this.#size += value.length;
    if (this.#size <= this.#limit) this.#chunks.push(value);
    // The first reader may exceed the limit; the second one will be rejected, so nothing is kept.
    else this.#chunks.length = 0;
    return value;
  }
}
