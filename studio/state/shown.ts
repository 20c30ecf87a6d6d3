/**
 * Which state values are shown: those visible to clients, or all. A page reload resets to the server's
 * default.
 */
import { computed, signal } from "@preact/signals";
import type { Shown } from "../../src/models/studio.js";
import { type Answer, ask } from "../api.js";
import { helperHeaders } from "./helper.js";
import { hello } from "./hello.js";

const isOther = signal(false);

/** Undefined if the other view is not available. */
export const shown = computed<Shown | undefined>(() => {
  const own = hello.value?.shows;
  if (own === undefined || !isOther.value) return own;
  return own === "all" ? "clients" : "all";
});

export const show = (next: Shown): void => void (isOther.value = next !== hello.value?.shows);

/** Like `ask`, for thread states: uses the helper if the public API does not show the selected values. */
export const askStates = <T>(method: string, path: string, body?: unknown): Promise<Answer<T>> =>
  shown.value === undefined || !isOther.value
    ? ask<T>(method, path, { body })
    : ask<T>(method, `/studio/api/states${path}`, { body, headers: helperHeaders() });
