/** Settings of usage, costs and budgets. */
import { BUDGET_PATTERN } from "../support/budgets/budget.js";
import { Type } from "../support/schema-builder.js";

const budget = (description: string) => Type.Optional(Type.String({ pattern: BUDGET_PATTERN, description }));
const price = (description: string) => Type.Number({ minimum: 0, description });

const ModelPrice = Type.Object(
  {
    input: price("Input tokens."),
    output: price("Output tokens."),
    cache_read: Type.Optional(price("Input tokens that the provider read from its cache. Default: input.")),
    cache_write: Type.Optional(price("Input tokens that the provider wrote to its cache. Default: input.")),
  },
  { additionalProperties: false },
);

export const usageSettings = {
  prices: Type.Optional(
    Type.Record(Type.String({ minLength: 1 }), ModelPrice, {
      default: {},
      description:
        "Prices of models in US dollars per million tokens, by model or provider/model; other models have the prices of the package @pydantic/genai-prices, if it is installed.",
    }),
  ),
  budgets: Type.Optional(
    Type.Object(
      {
        run: budget("Of a run."),
        thread: budget("Of all runs of a thread."),
        user: Type.Optional(
          Type.Object(
            {
              day: Type.String({
                pattern: BUDGET_PATTERN,
                description: "Of all runs of a user on a UTC day.",
              }),
            },
            { additionalProperties: false },
          ),
        ),
      },
      {
        additionalProperties: false,
        description:
          "Budgets such as 0.50 USD or 200k tokens: a run that has used one up asks before its next model call whether to continue (docs/observability.md#budgets).",
      },
    ),
  ),
};
