/** A proxy that cuts connections in the middle of event streams, at positions chosen by the test. */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { deferred } from "./deferred.js";

/** Cut after `frames` whole frames and `bytes` bytes of the next one. */
export interface Cut {
  frames: number;
  bytes: number;
}

/** Parses the responses of a connection byte by byte and counts the frames of chunked event streams. */
class Passage {
  /** Whole frames of the current stream, and bytes of the next. Meaningless outside of a stream. */
  frames = 0;
  bytes = 0;
  inStream = false;
  /** Bytes received since the last stream. */
  #head = "";
  /** Remaining bytes of the chunk; 0 while its size is read. */
  #left = 0;
  #size = "";
  #previous = 0;

  take(byte: number): void {
    if (!this.inStream) this.#takeHead(byte);
    else if (this.#left > 0) this.#takeFrame(byte);
    else this.#takeSize(byte);
  }

  #takeHead(byte: number): void {
    this.#head += String.fromCharCode(byte);
    if (!this.#head.endsWith("\r\n\r\n")) return;
    this.inStream = /content-type: text\/event-stream/i.test(this.#head);
    this.#head = "";
    this.frames = this.bytes = this.#previous = 0;
  }

  #takeSize(byte: number): void {
    this.#size += String.fromCharCode(byte);
    if (!/[0-9a-f]\r\n$/.test(this.#size)) return;
    this.#left = parseInt(this.#size.trim(), 16);
    this.#size = "";
    this.inStream = this.#left > 0;
  }

  #takeFrame(byte: number): void {
    this.#left -= 1;
    const ends = byte === 10 && this.#previous === 10;
    this.#previous = ends ? 0 : byte;
    this.frames += ends ? 1 : 0;
    this.bytes = ends ? 0 : this.bytes + 1;
  }
}

export interface CuttingProxy {
  url: string;
  /** Number of streams cut so far. */
  readonly cuts: number;
  /** Resolves when the first stream has been cut. */
  readonly cut: Promise<void>;
}

/** Cuts the n-th event stream (from 0) at `plan(n)`. A stream passes unchanged if `plan` returns undefined. */
export async function openCuttingProxy(
  target: string,
  plan: (stream: number) => Cut | undefined,
): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const first = deferred();
  let streams = 0;
  let cuts = 0;
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.setNoDelay(true).on("error", () => undefined);
    }
    near.on("data", (data) => far.write(data)).on("close", () => far.destroy());
    far.on("close", () => near.end());
    const passage = new Passage();
    let place: Cut | undefined;
    far.on("data", (data) => {
      for (const [index, byte] of data.entries()) {
        const wasInStream = passage.inStream;
        passage.take(byte);
        if (!passage.inStream) continue;
        if (!wasInStream) place = plan(streams++);
        if (!place || passage.frames < place.frames || passage.bytes < place.bytes) continue;
        near.end(data.subarray(0, index + 1));
        far.removeAllListeners("data").destroy();
        cuts += 1;
        return first.resolve();
      }
      near.write(data);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get cuts() {
      return cuts;
    },
    cut: first.promise,
  };
}
