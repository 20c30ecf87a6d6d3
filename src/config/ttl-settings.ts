/** The setting that limits how long threads, items of the long-term memory and usage are kept. */
import { Type } from "../support/schema-builder.js";

/** At most a year, like the ttl of a request. */
const minutes = (description: string) => Type.Number({ exclusiveMinimum: 0, maximum: 525_600, description });

export const ttlSettings = {
  ttl: Type.Optional(
    Type.Object(
      {
        threads: Type.Optional(
          Type.Object(
            {
              minutes: minutes("Minutes after its last change until a thread expires."),
              strategy: Type.Optional(
                Type.Unsafe<"delete" | "keep_latest">({
                  type: "string",
                  enum: ["delete", "keep_latest"],
                  description:
                    "delete removes expired threads; keep_latest removes their checkpoints except the latest. Default: delete.",
                }),
              ),
            },
            { additionalProperties: false, description: "Threads that are created without a ttl." },
          ),
        ),
        store: Type.Optional(
          Type.Object(
            {
              minutes: Type.Optional(
                minutes("Minutes after its last write or read until an item expires. Default: never."),
              ),
              refresh_on_read: Type.Optional(
                Type.Boolean({ description: "Whether reading an item renews it. Default: true." }),
              ),
            },
            { additionalProperties: false, description: "Items that are written without a ttl." },
          ),
        ),
        usage: Type.Optional(
          Type.Object(
            {
              days: Type.Integer({
                minimum: 1,
                maximum: 36_500,
                description: "UTC days before the current one whose usage is kept.",
              }),
            },
            { additionalProperties: false, description: "Usage of models. Default: kept forever." },
          ),
        ),
        sweep_interval_minutes: Type.Optional(
          Type.Number({
            minimum: 0.01,
            maximum: 10_080,
            description: "Minutes between two sweeps, which remove what has expired. Default: 1.",
          }),
        ),
      },
      {
        additionalProperties: false,
        description:
          "How long new threads, store items and usage are kept by default (docs/storage.md#retention).",
      },
    ),
  ),
};
