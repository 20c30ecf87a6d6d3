/** Sends a deletion some seconds later; until then it can be undone. */
import { signal } from "@preact/signals";
import type { ApiError } from "../api.js";
import type { Action } from "./copy-as.js";

/** Time to think again. It does not pass while the offer to undo is pointed at, or has the focus. */
const UNDO_MS = 5000;

interface Removal {
  /** Names what goes, such as the path of its address. */
  id: string;
  /** What is said of it. */
  text: string;
  /** Sends it; a list that shows what goes takes it out here. */
  send: () => Promise<unknown>;
  /** The same, for others to do. */
  action: Action;
}

interface Pending extends Removal {
  timer: ReturnType<typeof setTimeout> | undefined;
}

export const removals = signal<readonly Pending[]>([]);
export const refusedRemoval = signal<ApiError | undefined>(undefined);

/** Whether it is on its way out: lists do not show it. */
export const isLeaving = (id: string): boolean => removals.value.some((each) => each.id === id);

export function removeLater(removal: Removal): void {
  if (isLeaving(removal.id)) return;
  removals.value = [...removals.value, { ...removal, timer: undefined }];
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
  for (const each of removals.value) each.timer = setTimeout(() => void send(each), UNDO_MS);
}

/** Until the answer has come it stays out of sight; what is refused comes back. */
async function send({ id, send: act }: Removal): Promise<void> {
  refusedRemoval.value = undefined;
  try {
    await act();
  } catch (error) {
    refusedRemoval.value = error as ApiError;
  }
  forget(id);
}

const forget = (id: string): void => void (removals.value = removals.value.filter((each) => each.id !== id));
