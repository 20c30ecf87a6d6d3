/** Settings of the log. */
import { Type } from "../support/schema-builder.js";

export const logSettings = {
  log_level: Type.Optional(
    Type.Unsafe<"debug" | "info" | "warn" | "error" | "silent">({
      type: "string",
      enum: ["debug", "info", "warn", "error", "silent"],
      default: "info",
      description: "Minimum level of log messages.",
    }),
  ),
  log_level_format: Type.Optional(
    Type.Unsafe<"number" | "word">({
      type: "string",
      enum: ["number", "word"],
      default: "number",
      description: "Field `level` of the JSON log: number, such as 30; or word, such as info.",
    }),
  ),
  log_time_format: Type.Optional(
    Type.Unsafe<"epoch" | "iso">({
      type: "string",
      enum: ["epoch", "iso"],
      default: "epoch",
      description:
        "Field `time` of the JSON log: epoch, milliseconds since 1970; or iso, such as 2026-01-31T12:00:00.000Z.",
    }),
  ),
};
