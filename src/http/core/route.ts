/** Route declarations, from which both the Express router and the OpenAPI document are built. */
import type { IncomingHttpHeaders } from "node:http";
import type { Static, TArray, TObject } from "@sinclair/typebox";
import { Type } from "../../support/schema-builder.js";
import { Uuid } from "../../models/common.js";
import type { CallerService, CommandService } from "../../service/service.js";
import type { ErrorCode } from "../../support/errors/codes.js";
import type { Reply, ResponseSpec } from "./reply.js";

/** The error codes that a server returns; the others are errors of commands and of starting a server. */
export type ServedErrorCode = Exclude<
  ErrorCode,
  "config_invalid" | "graph_load_failed" | "run_failed" | "server_unreachable"
>;

/** All path parameters. */
export const PATH_PARAMETERS = {
  assistant_id: Type.String({ description: "A graph id, or the assistant's UUID in any common format." }),
  thread_id: Uuid("Id of the thread."),
  run_id: Uuid("Id of the run."),
  cron_id: Uuid("Id of the cron."),
  checkpoint_id: Type.String({ description: "Id of the checkpoint." }),
  namespace: Type.String({
    description: "Node names from the root graph, joined by |, such as child|leaf.",
  }),
} as const;
type PathParameter = keyof typeof PATH_PARAMETERS;

type ParametersOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParametersOf<Rest>
  : never;

/** A validated request, as passed to a handler. */
export interface Call<Params extends string = string, Query = unknown, Body = unknown> {
  service: CallerService;
  params: Readonly<Record<Params, string>>;
  query: Query;
  body: Body;
  headers: IncomingHttpHeaders;
  /** Returns a signal that aborts when the client disconnects before its response is complete. */
  disconnected: () => AbortSignal;
  /** The service for a command of this request; undefined if no handlers are asked about commands. */
  serviceFor?: CommandService;
}

/** The reply of a route. A socket is served until its client disconnects. */
export type RouteReply =
  Reply | { kind: "socket"; service: CallerService; threadId: string; serviceFor?: CommandService };

export type Tag =
  | "Health and info"
  | "Assistants"
  | "Threads"
  | "Thread state"
  | "Changes"
  | "Runs"
  | "Crons"
  | "Webhooks"
  | "Events and commands"
  | "Usage"
  | "Store";

interface RouteShape {
  /** Operation id, unique over all routes. */
  id: string;
  method: "get" | "post" | "put" | "patch" | "delete";
  /** In OpenAPI notation: `/threads/{thread_id}`. */
  path: string;
  tag: Tag;
  summary: string;
  description?: string;
  query?: TObject;
  body?: TObject | TArray;
  /** Request headers that the handler reads. */
  requestHeaders?: TObject;
  responses: readonly ResponseSpec[];
  /** Error codes specific to this route; common codes are added by the OpenAPI document. */
  errors: readonly ServedErrorCode[];
}

export interface Route extends RouteShape {
  handle(call: Call): Promise<RouteReply> | RouteReply;
}

/** Declares a route with typed path parameters, query and body. */
export function route<
  const Path extends string,
  Query extends TObject = TObject,
  Body extends TObject | TArray = TObject,
>(
  spec: Omit<RouteShape, "path" | "query" | "body"> & {
    path: ParametersOf<Path> extends PathParameter ? Path : never;
    query?: Query;
    body?: Body;
    handle(call: Call<ParametersOf<Path>, Static<Query>, Static<Body>>): Promise<RouteReply> | RouteReply;
  },
): Route {
  return spec;
}

export function pathParameters(path: string): PathParameter[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as PathParameter);
}
