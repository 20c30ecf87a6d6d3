/** Which state values are shown: all, or those visible to clients. A page reload resets to all. */
import { computed, signal } from "@preact/signals";
import type { Shown } from "../../src/models/studio.js";
import { type Answer, ask } from "../api.js";
import { helperHeaders } from "./helper.js";
import { hello } from "./hello.js";

const wish = signal<Shown>("all");

/** Undefined if the server does not let the page choose. */
export const shown = computed<Shown | undefined>(() => hello.value && wish.value);

export const show = (next: Shown): void => void (wish.value = next);

/** Like `ask`, for thread states: uses the helper if the public API does not show the selected values. */
export const askStates = <T>(method: string, path: string, body?: unknown): Promise<Answer<T>> =>
  shown.value === undefined || shown.value === hello.value?.shows
    ? ask<T>(method, path, { body })
    : ask<T>(method, `/studio/api/states${path}`, { body, headers: helperHeaders() });
