/** Token counts without schemas, because pages use them too. */

export interface TokenCounts {
  input_tokens: number;
  output_tokens: number;
  total_tokens: number;
}

export const NO_TOKENS: TokenCounts = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };

/** Tokens that models reported in this run only. Servers without this distinction report a total. */
export function reportedTokens(usage: (TokenCounts & { source?: string }) | null | undefined): TokenCounts {
  return usage && usage.source !== "messages" ? usage : NO_TOKENS;
}

/** Costs are integers in this fraction of a US dollar. */
export const UNITS_PER_USD = 1e9;
