/** The model calls of a run: tokens and cost, by node, provider, model and day. */

/** Tokens of a model call. */
export interface PricedTokens {
  input_tokens: number;
  output_tokens: number;
  /** Part of `input_tokens`. */
  cache_read_tokens: number;
  cache_write_tokens: number;
}

/** The cost of a model call in billionths of a US dollar; undefined if the price is unknown. */
export type PriceOf = (provider: string | null, model: string, tokens: PricedTokens) => number | undefined;

/** A called model, and the node that called it. */
export interface CalledModel {
  /** Its name after those of the nodes around it: `child:node`. Empty outside nodes. */
  node: string;
  provider: string | null;
  model: string;
}

export interface CallTokens extends PricedTokens {
  /** Part of `output_tokens`. */
  reasoning_tokens: number;
}

export interface ModelUsage extends CalledModel, CallTokens {
  /** UTC date, such as `2026-01-31`. */
  day: string;
  calls: number;
  /** In billionths of a US dollar, without the calls whose price is unknown. */
  cost: number;
  unpriced_calls: number;
}

export class ModelCalls {
  readonly #usage = new Map<string, ModelUsage>();
  isEmpty = true;
  /** Called after each call. */
  onAdd: (() => void) | undefined;

  /**
   * @param tokens tokens that the call reported; 0 if it reported none
   * @returns the cost of the call in billionths of a US dollar, if its price is known
   */
  add(called: CalledModel, tokens: CallTokens, priceOf: PriceOf | undefined): number | undefined {
    this.isEmpty = false;
    const { node, provider, model } = called;
    const day = new Date().toISOString().slice(0, 10);
    const key = JSON.stringify([node, provider, model, day]);
    const usage = this.#usage.get(key) ?? { ...called, day, ...NOTHING };
    this.#usage.set(key, usage);
    const { input_tokens, output_tokens } = tokens;
    usage.calls += 1;
    usage.input_tokens += input_tokens;
    usage.output_tokens += output_tokens;
    usage.cache_read_tokens += tokens.cache_read_tokens;
    usage.cache_write_tokens += tokens.cache_write_tokens;
    usage.reasoning_tokens += tokens.reasoning_tokens;
    // A call that reports no tokens was not free.
    const cost = input_tokens + output_tokens > 0 ? priceOf?.(provider, model, tokens) : undefined;
    if (cost === undefined) usage.unpriced_calls += 1;
    else usage.cost += cost;
    this.onAdd?.();
    return cost;
  }

  /** In the order of the first calls: an entry keeps its place. */
  list(): readonly ModelUsage[] {
    return [...this.#usage.values()];
  }

  /** In billionths of a US dollar; undefined if the price of a call is unknown. */
  get cost(): number | undefined {
    if (this.isEmpty) return undefined;
    let cost = 0;
    for (const usage of this.#usage.values()) {
      if (usage.unpriced_calls > 0) return undefined;
      cost += usage.cost;
    }
    return cost;
  }
}

const NOTHING = {
  calls: 0,
  input_tokens: 0,
  output_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  cost: 0,
  unpriced_calls: 0,
};

/** `child:<task id>|node:<task id>` is the node `child:node`. */
export const nodeOf = (namespace: string): string =>
  namespace
    .split("|")
    .map((part) => part.split(":", 1)[0])
    .join(":");
