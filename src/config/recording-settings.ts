/** The setting that records the calls of models and tools in production. */
import { ConfigError } from "../support/errors.js";
import { Type } from "../support/schema-builder.js";
import { choice } from "./choice.js";
import { capabilitiesOf, schemesWith } from "./storage-capabilities.js";

export const recordingSettings = {
  recording: Type.Optional(
    Type.Object(
      {
        where: choice<"folder" | "storage">(
          ["folder", "storage"],
          "Where recordings are kept: folder, in files; storage, in the storage sqlite, postgres or mongodb.",
        ),
        folder: Type.Optional(
          Type.String({
            minLength: 1,
            description: "Folder of the recordings: <folder>/<thread id>/<run id>.jsonl.",
          }),
        ),
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

interface Recording {
  where?: "folder" | "storage";
  folder?: string;
}

interface RecordingSettings {
  recording?: Recording;
  checkpointer_scheme: string;
}

/** What is wrong with the setting itself, and how to fix it. */
export function recordingFault({
  where = "folder",
  folder,
}: Recording): { message: string; hint: string } | undefined {
  if (where === "folder" && folder === undefined)
    return {
      message: "recording.folder is missing",
      hint: 'set recording.folder, or recording.where to "storage"',
    };
  return where === "storage" && folder !== undefined
    ? {
        message: "recording.folder has no effect if recording.where is storage",
        hint: 'remove recording.folder, or set recording.where to "folder"',
      }
    : undefined;
}

/** @throws ConfigError if the storage cannot keep recordings (`config_invalid`). A custom storage is not known. */
export function assertRecording({ recording, checkpointer_scheme: scheme }: RecordingSettings): void {
  if (recording?.where === "storage" && capabilitiesOf(scheme)?.recordings === false)
    throw keepsNoRecordings(scheme);
}

export const keepsNoRecordings = (scheme: string): ConfigError =>
  new ConfigError(`recording.where is storage, and the storage ${scheme} does not keep recordings`, {
    hint: `set checkpointer_scheme to ${schemesWith("recordings")}, or recording.where to folder, with recording.folder`,
  });
