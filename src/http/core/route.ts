/** What a route is: data, from which the Express router and the OpenAPI document are both built. */
import type { IncomingHttpHeaders } from "node:http";
import { type Static, type TArray, type TObject, type TSchema, Type } from "@sinclair/typebox";
import { type LazyPage, type Page, Uuid } from "../../models/common.js";
import type { CallerService, FrameStream } from "../../service/service.js";
import type { ErrorCode } from "../../support/errors.js";
import type { ListFrame } from "./respond.js";

/** Every name that may stand in a path. */
export const PATH_PARAMETERS = {
  assistant_id: Type.String({ description: "A graph id, or the assistant's UUID in any of its forms." }),
  thread_id: Uuid("Id of the thread."),
  run_id: Uuid("Id of the run."),
  cron_id: Uuid("Id of the cron."),
  checkpoint_id: Type.String({ description: "Id of the checkpoint." }),
  namespace: Type.String({
    description: "Names of nodes from the graph on, joined by |, such as child|leaf.",
  }),
} as const;
type PathParameter = keyof typeof PATH_PARAMETERS;

type ParametersOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParametersOf<Rest>
  : never;

/** One request, checked: what a handler gets. */
export interface Call<Params extends string = string, Query = unknown, Body = unknown> {
  service: CallerService;
  params: Readonly<Record<Params, string>>;
  query: Query;
  body: Body;
  headers: IncomingHttpHeaders;
  /** Aborts when the client goes away before its answer is complete. */
  disconnected: () => AbortSignal;
}

/** What a handler answers. */
export type Reply =
  | { kind: "json"; body: unknown; headers?: Record<string, string> }
  | { kind: "list"; items: AsyncIterable<unknown>; frame: ListFrame; headers: Record<string, string> }
  | { kind: "empty"; status: 202 | 204; headers?: Record<string, string> }
  | { kind: "text"; text: string; contentType: string }
  | { kind: "waiting"; answer: Promise<unknown>; headers: Record<string, string> }
  | { kind: "stream"; stream: FrameStream; headers: Record<string, string> }
  | { kind: "socket"; service: CallerService; threadId: string };

export const json = (body: unknown, headers?: Record<string, string>): Reply => ({
  kind: "json",
  body,
  headers,
});
/** A JSON list whose items are read while they are sent. */
export const list = (
  items: AsyncIterable<unknown>,
  frame: ListFrame = { head: "[", tail: "]" },
  headers: Record<string, string> = {},
): Reply => ({ kind: "list", items, frame, headers });
export const empty: Reply = { kind: "empty", status: 204 };
/** Understood, and under way; SDK clients take no body with it. */
export const accepted: Reply = { kind: "empty", status: 202 };

/** A successful answer, as documented. */
export interface ResponseSpec {
  status: 101 | 200 | 202 | 204;
  description: string;
  schema?: TSchema;
  contentType?: string;
  headers?: Record<string, TSchema>;
}

export type Tag =
  | "Health and info"
  | "Assistants"
  | "Threads"
  | "Thread state"
  | "Runs"
  | "Crons"
  | "Webhooks"
  | "Events and commands"
  | "Store";

interface RouteShape {
  /** Operation id, unique over all routes. */
  id: string;
  method: "get" | "post" | "put" | "patch" | "delete";
  /** In OpenAPI's notation: `/threads/{thread_id}`. */
  path: string;
  tag: Tag;
  summary: string;
  description?: string;
  query?: TObject;
  body?: TObject | TArray;
  /** Request headers that the handler reads. */
  requestHeaders?: TObject;
  responses: readonly ResponseSpec[];
  /** Codes of the errors particular to this route; those of every route are added by the document. */
  errors: readonly ErrorCode[];
}

export interface Route extends RouteShape {
  handle(call: Call): Promise<Reply> | Reply;
}

/** Declare a route; the types of path, query and body reach its handler. */
export function route<
  const Path extends string,
  Query extends TObject = TObject,
  Body extends TObject | TArray = TObject,
>(
  spec: Omit<RouteShape, "path" | "query" | "body"> & {
    path: ParametersOf<Path> extends PathParameter ? Path : never;
    query?: Query;
    body?: Body;
    handle(call: Call<ParametersOf<Path>, Static<Query>, Static<Body>>): Promise<Reply> | Reply;
  },
): Route {
  return spec;
}

/** The placeholders of a path, in order. */
export function pathParameters(path: string): PathParameter[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as PathParameter);
}

export const PAGE_HEADERS = {
  "X-Pagination-Total": Type.Integer({
    description: "Matches in all, over all pages; absent where they were not counted.",
  }),
  "X-Pagination-Next": Type.Integer({ description: "Offset of the next page; absent on the last one." }),
};

/** A page as it goes out: the items as the body, the rest as headers. */
export const jsonPage = ({ items, ...page }: Page<unknown>): Reply => json(items, pageHeaders(page));

/** As `jsonPage`, of a page that may not fit into memory. */
export const lazyPage = ({ items, ...page }: LazyPage<unknown>): Reply =>
  list(items, undefined, pageHeaders(page));

const pageHeaders = ({ total, next }: Omit<Page<unknown>, "items">): Record<string, string> => ({
  ...(total !== null && { "X-Pagination-Total": String(total) }),
  ...(next !== null && { "X-Pagination-Next": String(next) }),
});

/** Body of the count endpoints. */
export const Count = Type.Integer({ minimum: 0, description: "Number of matches." });
