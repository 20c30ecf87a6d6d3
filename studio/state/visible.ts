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

/** A signal that aborts when the tab is hidden. */
export function whenHidden(): { signal: AbortSignal; forget: () => void } {
  const hidden = new AbortController();
  const look = () => !isSeen() && hidden.abort();
  document.addEventListener("visibilitychange", look);
  return { signal: hidden.signal, forget: () => document.removeEventListener("visibilitychange", look) };
}
