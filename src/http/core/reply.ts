/** What routes respond with. */
import type { TSchema } from "@sinclair/typebox";
import type { LazyPage, Page } from "../../models/common.js";
import type { FrameStream } from "../../models/run-stream.js";
import { Type } from "../../support/schema-builder.js";
import type { ListFrame } from "./respond.js";

export type Reply =
  | { kind: "json"; body: unknown; headers?: Record<string, string> }
  | { kind: "list"; items: AsyncIterable<unknown>; frame: ListFrame; headers: Record<string, string> }
  | { kind: "empty"; status: 202 | 204; headers?: Record<string, string> }
  | { kind: "text"; text: string; contentType: string }
  | { kind: "waiting"; answer: Promise<unknown>; headers: Record<string, string> }
  | { kind: "stream"; stream: FrameStream; headers: Record<string, string> };

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
/** Accepted for processing. SDK clients expect an empty body. */
export const accepted: Reply = { kind: "empty", status: 202 };

/** A documented success response. */
export interface ResponseSpec {
  status: 101 | 200 | 202 | 204;
  description: string;
  schema?: TSchema;
  contentType?: string;
  headers?: Record<string, TSchema>;
}

export const PAGE_HEADERS = {
  "X-Pagination-Total": Type.Integer({
    description: "Total number of matches over all pages; absent if not counted.",
  }),
  "X-Pagination-Next": Type.Integer({ description: "Offset of the next page; absent on the last one." }),
};

/** Sends a page: the items as the body, the rest as headers. */
export const jsonPage = ({ items, ...page }: Page<unknown>): Reply => json(items, pageHeaders(page));

/** Like `jsonPage`, for a page that may not fit into memory. */
export const lazyPage = ({ items, ...page }: LazyPage<unknown>): Reply =>
  list(items, undefined, pageHeaders(page));

const pageHeaders = ({ total, next }: Omit<Page<unknown>, "items">): Record<string, string> => ({
  ...(total !== null && { "X-Pagination-Total": String(total) }),
  ...(next !== null && { "X-Pagination-Next": String(next) }),
});

export const Count = Type.Integer({ minimum: 0, description: "Number of matches." });
