/** What the subscriptions of one WebSocket are told of its thread, in which order. */
import { setTimeout as after } from "node:timers/promises";
import { type EventFilter, type EventStream, passes, type ProtocolFrame } from "../../models/protocol.js";

/** Clients subscribe several times in a row; what they subscribe to within this time is told as one. */
const BURST_MS = 50;

export interface Subscription {
  id: string;
  filter: EventFilter;
}

/**
 * All of them read the thread together. Clients take the end of a run for the end of its events, whichever subscription
 * tells of it: no end goes out while another subscription may yet ask for what comes before it.
 */
export class Subscriptions {
  readonly #send: (text: string) => Promise<boolean>;
  readonly #all = new Set<Subscription>();
  /** They wait to be told what there was when they came. */
  #joining: Subscription[] = [];
  /** They have been told. */
  readonly #open = new Set<Subscription>();
  #stream: EventStream | undefined;
  /** Place of the last event that went by. */
  #place = 0;
  /** Settles when the newest subscription is no longer new. */
  #burst: Promise<void> = Promise.resolve();
  /** Settles when what has been given out is on its way: with false when the client is gone. */
  #turn: Promise<boolean> = Promise.resolve(true);

  constructor(send: (text: string) => Promise<boolean>) {
    this.#send = send;
  }

  get count(): number {
    return this.#all.size;
  }

  /** Take a subscription, which nothing is told of yet. */
  take(subscription: Subscription): void {
    this.#all.add(subscription);
    this.#burst = after(BURST_MS, undefined, { ref: false });
  }

  /** Send a message that is no event, after what has been given out before. */
  answer(text: string): Promise<boolean> {
    return this.#give(() => this.#send(text));
  }

  /** Tell it what there is, and what comes: its answer has been given out. */
  async begin(subscription: Subscription): Promise<void> {
    if (this.#joining.push(subscription) > 1) return;
    if (this.#told().some(({ endsRun }) => endsRun)) await this.#quiet();
    const joined = this.#joining.filter((each) => this.#all.has(each));
    this.#joining = [];
    for (const each of joined) this.#open.add(each);
    const told = this.#told().filter((frame) => asksFor(joined, frame));
    await this.#give(() => this.#sendAll(told));
  }

  /** @returns whether there was such a subscription */
  remove(id: string): boolean {
    const subscription = [...this.#all].find((each) => each.id === id);
    if (!subscription) return false;
    this.#open.delete(subscription);
    return this.#all.delete(subscription);
  }

  /** Read the thread until its stream ends or the client is gone. */
  async follow(stream: EventStream): Promise<void> {
    this.#stream = stream;
    for await (const batch of stream.frames) {
      for (const frame of batch) {
        if (frame.endsRun) {
          do await this.#quiet();
          while (this.#joining.length > 0);
        }
        this.#place = frame.seq;
        if (!asksFor(this.#open, frame)) continue;
        if (!(await this.#give(() => this.#send(frame.data)))) return;
      }
    }
  }

  /** Events that have gone by, as far as they are kept. */
  #told(): readonly ProtocolFrame[] {
    return this.#stream?.retained().filter(({ seq }) => seq <= this.#place) ?? [];
  }

  /** Wait until no subscription is new. */
  async #quiet(): Promise<void> {
    for (let seen; seen !== this.#burst;) await (seen = this.#burst);
  }

  async #sendAll(frames: readonly ProtocolFrame[]): Promise<boolean> {
    for (const { data } of frames) if (!(await this.#send(data))) return false;
    return true;
  }

  #give(send: () => Promise<boolean>): Promise<boolean> {
    this.#turn = this.#turn.then((isHere) => isHere && send());
    return this.#turn;
  }
}

function asksFor(subscriptions: Iterable<Subscription>, frame: ProtocolFrame): boolean {
  for (const { filter } of subscriptions) if (passes(filter, frame)) return true;
  return false;
}
