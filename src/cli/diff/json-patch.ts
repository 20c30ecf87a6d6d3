import type { PathStep } from "../../models/value-path.js";
import type { Change } from "./changes.js";

export interface PatchOperation {
  op: "add" | "remove" | "replace";
  path: string;
  value?: unknown;
}

/** The changes as a JSON Patch (RFC 6902). */
export function jsonPatch(changes: readonly Change[]): PatchOperation[] {
  return changes.map(({ op, path, ...change }) => ({
    op,
    path: pointerOf(path),
    ...(op !== "remove" && { value: change.new ?? null }),
  }));
}

/** A path as a JSON Pointer (RFC 6901). */
export function pointerOf(path: readonly PathStep[]): string {
  return path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
