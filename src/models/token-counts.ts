/** Counts of tokens, free of schemas: pages have them too. */

export interface TokenCounts {
  input_tokens: number;
  output_tokens: number;
  total_tokens: number;
}

export const NO_TOKENS: TokenCounts = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };

/** What models reported in a run itself, whatever its thread says; of servers that do not tell, what they give. */
export function reportedTokens(usage: (TokenCounts & { source?: string }) | null | undefined): TokenCounts {
  return usage && usage.source !== "messages" ? usage : NO_TOKENS;
}
