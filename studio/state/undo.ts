/** Delays deletions so that they can be undone. */
import { signal } from "@preact/signals";
import type { ApiError } from "../api.js";
import type { Action } from "./copy-as.js";

/** The countdown pauses while the undo bar is hovered or focused. */
const UNDO_MS = 5000;

interface Removal {
  /** Unique id of the deleted object, such as its path. */
  id: string;
  /** Text of the undo bar. */
  text: string;
  /** Sends the deletion and updates the list. */
  send: () => Promise<unknown>;
  action: Action;
}

interface Pending extends Removal {
  timer: ReturnType<typeof setTimeout> | undefined;
  /** True once it cannot be undone any more. */
  isSent: boolean;
}

export const removals = signal<readonly Pending[]>([]);
export const refusedRemoval = signal<ApiError | undefined>(undefined);

/** True while a deletion is pending; lists hide the object. */
export const isLeaving = (id: string): boolean => removals.value.some((each) => each.id === id);

export function removeLater(removal: Removal): void {
  if (isLeaving(removal.id)) return;
  removals.value = [...removals.value, { ...removal, timer: undefined, isSent: false }];
  goOn();
}

export function undo(id: string): void {
  for (const each of removals.value) if (each.id === id) clearTimeout(each.timer);
  forget(id);
}

/** Pause the countdown. */
export function hold(): void {
  for (const each of removals.value) clearTimeout(each.timer);
}

/** Restart the countdown. */
export function goOn(): void {
  hold();
  for (const each of removals.value)
    if (!each.isSent) each.timer = setTimeout(() => void send(each), UNDO_MS);
}

// Closing the page does not undo a deletion that it has shown.
addEventListener("pagehide", () => {
  hold();
  for (const each of removals.value) if (!each.isSent) void send(each);
});

/** The object stays hidden until the response arrives; it reappears if the deletion fails. */
async function send({ id, send: act }: Removal): Promise<void> {
  removals.value = removals.value.map((each) => (each.id === id ? { ...each, isSent: true } : each));
  refusedRemoval.value = undefined;
  try {
    await act();
  } catch (error) {
    refusedRemoval.value = error as ApiError;
  }
  forget(id);
}

const forget = (id: string): void => void (removals.value = removals.value.filter((each) => each.id !== id));
