/** Prices of models: those of the setting `prices`, then those of the package @pydantic/genai-prices, if it is installed. */
import type { PricedTokens, PriceOf } from "../models/model-calls.js";
import { UNITS_PER_USD } from "../models/token-counts.js";
import type { ConfigError } from "../support/errors.js";
import { loadOptional } from "../support/optional-package.js";

/** US dollars per million tokens. */
interface ModelPrice {
  input: number;
  output: number;
  cache_read?: number;
  cache_write?: number;
}

const PACKAGE = "@pydantic/genai-prices";

interface GenaiPrices {
  calcPrice(
    this: void,
    usage: PricedTokens,
    model: string,
    options?: { providerId?: string },
  ): { total_price: number } | null;
}

/** Provider names of LangChain that the package names differently. */
const PROVIDERS: Readonly<Record<string, string>> = {
  google_genai: "google",
  google_vertexai: "google",
  amazon_bedrock: "aws",
  mistralai: "mistral",
  xai: "x-ai",
};

/**
 * @param own the setting `prices`: by model, or by provider and model
 * @param cwd project folder, whose copy of the package is used
 */
export function pricesOf(own: Readonly<Record<string, ModelPrice>>, cwd: string): PriceOf {
  // Loading the package takes 40 ms, so it is loaded for the first model without an own price.
  let genai: GenaiPrices | undefined | "unknown" = "unknown";
  return (provider, model, tokens) => {
    const price = own[`${provider}/${model}`] ?? own[model];
    if (price) return costOf(price, tokens);
    if (genai === "unknown") genai = loadGenai(cwd);
    return genai && listedCost(genai, provider, model, tokens);
  };
}

/** A price per million tokens in units per token. */
const PER_TOKEN = UNITS_PER_USD / 1e6;

function costOf(
  { input, output, cache_read = input, cache_write = input }: ModelPrice,
  { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens }: PricedTokens,
): number {
  const uncached = Math.max(0, input_tokens - cache_read_tokens - cache_write_tokens);
  const dollars =
    uncached * input +
    cache_read_tokens * cache_read +
    cache_write_tokens * cache_write +
    output_tokens * output;
  return Math.round(dollars * PER_TOKEN);
}

function listedCost(
  { calcPrice }: GenaiPrices,
  provider: string | null,
  model: string,
  { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens }: PricedTokens,
): number | undefined {
  try {
    const found = calcPrice(
      { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens },
      model,
      provider === null ? {} : { providerId: PROVIDERS[provider] ?? provider },
    );
    return found ? Math.round(found.total_price * UNITS_PER_USD) : undefined;
  } catch {
    // Counts that contradict each other, such as more cached tokens than tokens.
    return undefined;
  }
}

function loadGenai(cwd: string): GenaiPrices | undefined {
  try {
    return loadOptional<GenaiPrices>(PACKAGE, { cwd, setting: "prices" });
  } catch (error) {
    // A missing package has no cause.
    if ((error as ConfigError).cause === undefined) return undefined;
    throw error;
  }
}
