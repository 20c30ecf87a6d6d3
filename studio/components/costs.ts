/** Costs as text. A cost without a price is unknown, never 0. */
import type { Run } from "../../src/models/run.js";
import { reportedTokens } from "../../src/models/token-counts.js";
import { strings } from "../strings.js";
import type { Cost } from "./prices.js";
import { dollars } from "./text.js";

/** For example `$0.0012`, `≥ $0.0012` if some prices are unknown, or `unknown`; `–` without calls. */
export function sumText(sum: number | null, unpricedCalls: number): string {
  if (sum === null) return unpricedCalls > 0 ? strings.usage.unknown : "–";
  return unpricedCalls > 0 ? `≥ ${dollars(sum)}` : dollars(sum);
}

export const costText = (cost: Cost | undefined): string =>
  cost === undefined ? "–" : sumText(cost.cost, cost.unpriced.length);

/** Cost of a run as the server computed it; `unknown` without the price of a call, `–` without tokens. */
export function runCostText(usage: Run["usage"]): string {
  if (reportedTokens(usage).total_tokens === 0) return "–";
  return usage?.cost_usd === undefined ? strings.usage.unknown : dollars(usage.cost_usd);
}

/** A cost beside other facts, which do not say what is unknown. */
export const costNote = (text: string): string =>
  text === strings.usage.unknown ? strings.usage.unknownCost : text;
