/** MongoDB's wire protocol as far as drivers need it: OP_MSG, and OP_QUERY for the handshake. */
import { deserialize, serialize, type Document } from "bson";

const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;
const HEADER = 16;
const MORE_TO_COME = 2;

export interface Request {
  id: number;
  /** Format of the response. */
  format: "message" | "reply";
  command: Document;
  wantsAnswer: boolean;
}

/** Converts numbers to JavaScript numbers; keeps binary data wrapped so that it is written unchanged. */
export const readDocument = (bytes: Uint8Array): Document => deserialize(bytes, { promoteBuffers: false });

export class RequestReader {
  #buffer = Buffer.alloc(0);

  *read(chunk: Buffer): Generator<Request> {
    this.#buffer = Buffer.concat([this.#buffer, chunk]);
    while (this.#buffer.length >= HEADER && this.#buffer.length >= this.#buffer.readInt32LE(0)) {
      const length = this.#buffer.readInt32LE(0);
      const message = this.#buffer.subarray(0, length);
      this.#buffer = this.#buffer.subarray(length);
      yield parse(message);
    }
  }
}

function parse(message: Buffer): Request {
  const id = message.readInt32LE(4);
  const opCode = message.readInt32LE(12);
  const body = message.subarray(HEADER);
  if (opCode === OP_QUERY) {
    const afterName = body.indexOf(0, 4) + 1;
    return { id, format: "reply", command: readDocument(body.subarray(afterName + 8)), wantsAnswer: true };
  }
  if (opCode !== OP_MSG) throw new Error(`the double does not support opcode ${opCode}`);
  const wantsAnswer = (body.readInt32LE(0) & MORE_TO_COME) === 0;
  return { id, format: "message", command: readSections(body.subarray(4)), wantsAnswer };
}

function readSections(bytes: Buffer): Document {
  const command: Document = {};
  for (let at = 0; at < bytes.length;) {
    const isSequence = bytes[at] === 1;
    const size = bytes.readInt32LE(at + 1);
    const section = bytes.subarray(at + 1, at + 1 + size);
    if (isSequence) {
      const end = section.indexOf(0, 4);
      command[section.toString("utf8", 4, end)] = readSequence(section.subarray(end + 1));
    } else Object.assign(command, readDocument(section));
    at += 1 + size;
  }
  return command;
}

function readSequence(bytes: Buffer): Document[] {
  const documents: Document[] = [];
  for (let at = 0; at < bytes.length; at += bytes.readInt32LE(at)) {
    documents.push(readDocument(bytes.subarray(at, at + bytes.readInt32LE(at))));
  }
  return documents;
}

export function writeAnswer({ id, format }: Request, answer: Document): Buffer {
  const document = serialize(answer, { ignoreUndefined: true });
  const isMessage = format === "message";
  const head = Buffer.alloc(isMessage ? HEADER + 5 : HEADER + 20);
  head.writeInt32LE(head.length + document.length, 0);
  head.writeInt32LE(id, 8);
  head.writeInt32LE(isMessage ? OP_MSG : OP_REPLY, 12);
  if (!isMessage) head.writeInt32LE(1, HEADER + 16);
  return Buffer.concat([head, document]);
}
