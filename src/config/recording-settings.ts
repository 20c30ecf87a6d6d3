/** The setting that records the calls of models and tools in production. */
import { Type } from "../support/schema-builder.js";

export const recordingSettings = {
  recording: Type.Optional(
    Type.Object(
      {
        folder: Type.String({
          minLength: 1,
          description: "Folder of the recordings: <folder>/<thread id>/<run id>.jsonl.",
        }),
        share: Type.Optional(
          Type.Number({
            exclusiveMinimum: 0,
            maximum: 1,
            description: "Share of threads whose runs are recorded, such as 0.05. Default: 1.",
          }),
        ),
        redact: Type.Optional(
          Type.Array(Type.String({ minLength: 1 }), {
            description:
              'Regular expressions of texts to replace with [redacted], in addition to secrets, such as "\\d{16}".',
          }),
        ),
        keep: Type.Optional(
          Type.String({
            pattern: "^[1-9]\\d{0,3}[hd]$",
            description: "How long recordings are kept, such as 48h or 14d. Default: 14d.",
          }),
        ),
      },
      {
        additionalProperties: false,
        description:
          "Record the requests to models and tools and their responses, without secrets, for shadow runs (docs/deploys.md#record-in-production); used by start and worker.",
      },
    ),
  ),
};
