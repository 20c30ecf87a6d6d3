import type { Static } from "@sinclair/typebox";
import { Type } from "../support/schema-builder.js";
import { StringEnum } from "./common.js";

export const HealthResponse = Type.Object(
  {
    status: Type.String({ description: "`ok` while the process serves." }),
    version: Type.String({ description: "Version of the server." }),
  },
  { title: "HealthResponse", description: "Liveness of the service." },
);
export type HealthResponse = Static<typeof HealthResponse>;

export const OkResponse = Type.Object(
  { ok: Type.Boolean({ description: "True while the process serves." }) },
  { title: "OkResponse", description: "Minimal liveness response." },
);

export const ReadyResponse = Type.Object(
  {
    ready: Type.Boolean({ description: "True: runs are accepted, and the storage is reachable." }),
    frames: Type.Optional(
      StringEnum(["shared", "away"], {
        description:
          "Whether frames of runs reach other processes (shared), or the shared stream is unreachable (away). Absent if frames are not shared.",
      }),
    ),
    clock_difference_seconds: Type.Optional(
      Type.Number({
        description:
          "How far the clock of this process is ahead of the database's, in seconds; negative if it is behind. Absent for a storage without its own clock.",
      }),
    ),
  },
  { title: "ReadyResponse", description: "Readiness of the service." },
);

export const ServerInfoModel = Type.Object(
  {
    status: Type.String({ description: "`ok` while the process serves." }),
    name: Type.String({ description: "Name of the server software." }),
    version: Type.String({ description: "Version of the server." }),
    langgraph_js_version: Type.String({
      description: "Version of @langchain/langgraph that runs the graphs.",
    }),
    context: Type.String({
      description: "Language of the graphs, as SDK clients expect it: `js`.",
    }),
    flags: Type.Record(Type.String(), Type.Boolean(), {
      description: "Optional capabilities of the server by name.",
    }),
    body_limit: Type.Integer({
      description: "Maximum size of a request body in bytes: the setting body_limit.",
    }),
  },
  { title: "ServerInfoModel", description: "Identity of the server for SDK clients." },
);
export type ServerInfo = Static<typeof ServerInfoModel>;

export const InitialMessageResponse = Type.Object(
  {
    message: Type.String({ description: "The setting welcome_message." }),
    version: Type.String({ description: "Version of the server." }),
  },
  { title: "InitialMessageResponse", description: "Welcome message for a chat client." },
);
export type InitialMessage = Static<typeof InitialMessageResponse>;
