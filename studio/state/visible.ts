/** When this tab keeps its connections: while it is visible and online. */
/** Browsers limit connections per server to six: a hidden tab closes its own. */
const isSeen = (): boolean => document.visibilityState === "visible";

/** Resolves when the tab is visible; rejects when `left` aborts. */
export function seen(left: AbortSignal): Promise<void> {
  if (isSeen()) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const look = () => isSeen() && done(resolve);
    const done = (settle: () => void) => {
      document.removeEventListener("visibilitychange", look);
      settle();
    };
    document.addEventListener("visibilitychange", look);
    left.addEventListener("abort", () => done(() => reject(new DOMException("left", "AbortError"))));
  });
}

interface Watch {
  signal: AbortSignal;
  forget: () => void;
}

/** Aborts when the tab is hidden. */
export const whenHidden = (): Watch => abortOn(document, "visibilitychange", () => !isSeen());

/**
 * Aborts when the browser goes offline: a connection that is lost is silent, not closed. Another one shows whether the
 * server can be reached, which one on this machine still can.
 */
export const whenOffline = (): Watch => abortOn(window, "offline", () => true);

function abortOn(target: EventTarget, event: string, isDue: () => boolean): Watch {
  const due = new AbortController();
  const look = () => isDue() && due.abort();
  target.addEventListener(event, look);
  return { signal: due.signal, forget: () => target.removeEventListener(event, look) };
}
