import type { IncomingMessage } from "node:http";
import { PayloadTooLargeError } from "../../support/errors.js";

/**
 * A request's body that one may read as a stream and another after it as a whole, up to `limit` bytes. Untouched, it
 * stays in its request.
 */
export class ReplayedBody {
  /** For the first reader; undefined where the request has no body. */
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
          // A copy: who reads the stream may keep or change what it gets.
          if (chunk) controller.enqueue(Uint8Array.from(chunk));
          else controller.close();
        },
      },
      // Nothing is read before it is asked for.
      { highWaterMark: 0 },
    );
  }

  /** The whole body, where the stream was read from; undefined where it was not. @throws PayloadTooLargeError (`payload_too_large`) */
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
    // The first reader may take more than the second: for that one the rest is not kept.
    else this.#chunks.length = 0;
    return value;
  }
}
