import { Type } from "@sinclair/typebox";
import type { Page } from "../models/common.js";
import { json, type Reply } from "./route.js";

export const PAGE_HEADERS = {
  "X-Pagination-Total": Type.Integer({ description: "Matches in all, over all pages." }),
  "X-Pagination-Next": Type.Integer({ description: "Offset of the next page; absent on the last one." }),
};

/** A page as it goes out: the items as the body, the rest as headers. */
export function jsonPage({ items, total, next }: Page<unknown>): Reply {
  return json(items, {
    "X-Pagination-Total": String(total),
    ...(next !== null && { "X-Pagination-Next": String(next) }),
  });
}

/** Body of the count endpoints. */
export const Count = Type.Integer({ minimum: 0, description: "Number of matches." });
