/**
 * Parses the user's price list and computes costs: `gpt-4o* 2.50 10` is a model and its prices per million
 * tokens.
 */
import type { RunTask } from "../../src/models/run.js";
import { isRecord } from "../../src/models/json.js";
import { NO_TOKENS, type TokenCounts } from "../../src/models/token-counts.js";
import type { MessageLike } from "../state/frame.js";

export interface Price {
  /** Model name; `*` matches any text. */
  model: string;
  /** Price per million tokens. */
  input: number;
  output: number;
}

/** The parsed list, or the number of the first invalid line. */
type PriceList = { prices: Price[] } | { line: number };

const LINE = /^(\S+)\s+(\d+(?:\.\d+)?)\s+(\d+(?:\.\d+)?)$/;

export function parsePrices(text: string): PriceList {
  const prices: Price[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const [, model, input, output] = LINE.exec(line.trim()) ?? [];
    if (model === undefined) return { line: index + 1 };
    prices.push({ model, input: Number(input), output: Number(output) });
  }
  return { prices };
}

function isNamed(pattern: string, model: string): boolean {
  const [head = "", ...rest] = pattern.split("*");
  if (rest.length === 0) return pattern === model;
  if (!model.startsWith(head)) return false;
  let at = head.length;
  const tail = rest.pop() ?? "";
  for (const part of rest) {
    const found = model.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return model.length - at >= tail.length && model.endsWith(tail);
}

/** Total tokens of the model calls among the tasks. */
export function tokensIn(tasks: readonly RunTask[]): TokenCounts {
  return tasks.reduce((sum, { usage }) => (usage ? added(sum, usage) : sum), NO_TOKENS);
}

export const added = (a: TokenCounts, b: TokenCounts): TokenCounts => ({
  input_tokens: a.input_tokens + b.input_tokens,
  output_tokens: a.output_tokens + b.output_tokens,
  total_tokens: a.total_tokens + b.total_tokens,
});

export interface Cost {
  /** US dollars; null if no price is known. */
  cost: number | null;
  unpriced: string[];
}

/** Cost of model calls: the first matching price of the list, otherwise what the server computed. */
export function costOf(tasks: readonly RunTask[], prices: readonly Price[]): Cost {
  let cost: number | null = null;
  const unpriced = new Set<string>();
  for (const { name, usage } of tasks) {
    if (!usage) continue;
    const price = prices.find(({ model }) => isNamed(model, name));
    const own = price && (usage.input_tokens * price.input + usage.output_tokens * price.output) / 1e6;
    const known = own ?? usage.cost_usd;
    if (known === undefined) unpriced.add(name);
    else cost = (cost ?? 0) + known;
  }
  return { cost, unpriced: [...unpriced] };
}

/** Tokens that the provider reported with a message; undefined without any. */
export function messageTokens({ usage_metadata: usage }: MessageLike): TokenCounts | undefined {
  if (!isRecord(usage)) return undefined;
  const [input, output, total] = [usage.input_tokens, usage.output_tokens, usage.total_tokens].map(Number);
  if (!input && !output && !total) return undefined;
  const [input_tokens, output_tokens] = [input || 0, output || 0];
  return { input_tokens, output_tokens, total_tokens: total || input_tokens + output_tokens };
}

/**
 * Cost of the model call that returned a message. Messages do not name their calls: it is the cost of the calls with
 * the same tokens, and unknown if these differ.
 */
export function messageCost(
  message: MessageLike,
  tasks: readonly RunTask[],
  prices: readonly Price[],
): Cost | undefined {
  const tokens = messageTokens(message);
  if (!tokens) return undefined;
  const same = tasks.filter(
    ({ usage }) =>
      usage?.input_tokens === tokens.input_tokens && usage.output_tokens === tokens.output_tokens,
  );
  const costs = same.map((task) => costOf([task], prices));
  const [first] = costs;
  const isSure = first !== undefined && costs.every(({ cost }) => cost === first.cost);
  return isSure ? first : { cost: null, unpriced: [""] };
}
