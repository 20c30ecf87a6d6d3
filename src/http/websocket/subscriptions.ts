/** Orders the events sent to the subscriptions of one WebSocket. */
import { setTimeout as after } from "node:timers/promises";
import { type EventFilter, type EventStream, passes, type ProtocolFrame } from "../../models/protocol.js";

/**
 * Clients subscribe several times in a row; subscriptions within this time are handled together, in
 * milliseconds.
 */
const BURST_MS = 50;

export interface Subscription {
  id: string;
  filter: EventFilter;
}

/**
 * All subscriptions read the thread together. Clients treat the end of a run as the end of its
 * events, whichever subscription reports it. Therefore an end event is held back while another
 * subscription may still request earlier events.
 */
export class Subscriptions {
  readonly #send: (text: string) => Promise<boolean>;
  readonly #all = new Set<Subscription>();
  /** Subscriptions waiting for the retained events. */
  #joining: Subscription[] = [];
  /** Subscriptions that have received the retained events. */
  readonly #open = new Set<Subscription>();
  #stream: EventStream | undefined;
  /** Sequence number of the last event that was processed. */
  #lastSeq = 0;
  /** Settles when the newest subscription's burst time has passed. */
  #burst: Promise<void> = Promise.resolve();
  /** Settles when all pending messages are sent; with false if the client is gone. */
  #turn: Promise<boolean> = Promise.resolve(true);

  constructor(send: (text: string) => Promise<boolean>) {
    this.#send = send;
  }

  get count(): number {
    return this.#all.size;
  }

  /** Registers a subscription; it receives nothing yet. */
  take(subscription: Subscription): void {
    this.#all.add(subscription);
    this.#burst = after(BURST_MS, undefined, { ref: false });
  }

  /** Sends a message that is not an event, after all pending messages. */
  answer(text: string): Promise<boolean> {
    return this.#enqueue(() => this.#send(text));
  }

  /** Sends the retained events and then new ones. Call it after the reply has been queued. */
  async begin(subscription: Subscription): Promise<void> {
    if (this.#joining.push(subscription) > 1) return;
    if (this.#processed().some(({ endsRun }) => endsRun)) await this.#quiet();
    const joined = this.#joining.filter((each) => this.#all.has(each));
    this.#joining = [];
    for (const each of joined) this.#open.add(each);
    const past = this.#processed().filter((frame) => anyPasses(joined, frame));
    await this.#enqueue(() => this.#sendAll(past));
  }

  /** @returns whether the subscription existed */
  remove(id: string): boolean {
    const subscription = [...this.#all].find((each) => each.id === id);
    if (!subscription) return false;
    this.#open.delete(subscription);
    return this.#all.delete(subscription);
  }

  /** Reads the thread until its stream ends or the client is gone. */
  async follow(stream: EventStream): Promise<void> {
    this.#stream = stream;
    for await (const batch of stream.frames) {
      for (const frame of batch) {
        if (frame.endsRun) {
          do await this.#quiet();
          while (this.#joining.length > 0);
        }
        this.#lastSeq = frame.seq;
        if (!anyPasses(this.#open, frame)) continue;
        if (!(await this.#enqueue(() => this.#send(frame.data)))) return;
      }
    }
  }

  /** Processed events that are still retained. */
  #processed(): readonly ProtocolFrame[] {
    return this.#stream?.retained().filter(({ seq }) => seq <= this.#lastSeq) ?? [];
  }

  /** Waits until the burst times of all subscriptions have passed. */
  async #quiet(): Promise<void> {
    for (let awaited; awaited !== this.#burst;) await (awaited = this.#burst);
  }

  async #sendAll(frames: readonly ProtocolFrame[]): Promise<boolean> {
    for (const { data } of frames) if (!(await this.#send(data))) return false;
    return true;
  }

  #enqueue(send: () => Promise<boolean>): Promise<boolean> {
    this.#turn = this.#turn.then((isHere) => isHere && send());
    return this.#turn;
  }
}

function anyPasses(subscriptions: Iterable<Subscription>, frame: ProtocolFrame): boolean {
  for (const { filter } of subscriptions) if (passes(filter, frame)) return true;
  return false;
}
