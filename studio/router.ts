/** Hash router: the address is the state. A hash works under any prefix and in a local file. */
import { computed, signal } from "@preact/signals";
// Must be imported first: it removes keys from the address.
import { isReadOnly } from "./api.js";
import { takeToken } from "./state/helper.js";
import { href, parsePlace, type Query } from "./address.js";

export { href };

takeToken();
const hash = signal(location.hash);
addEventListener("hashchange", () => (hash.value = location.hash));

/** Read-only pages cannot run graphs. */
const HOME = isReadOnly ? "threads" : "run";

export const place = computed(() => {
  const { path, query } = parsePlace(hash.value);
  return { path: path.length === 0 ? [HOME] : path, query };
});

/** With `replace`, the current history entry is overwritten. */
export function go(address: string, { replace = false } = {}): void {
  if (address === location.hash) return;
  history[replace ? "replaceState" : "pushState"](null, "", address);
  hash.value = address;
}

/** Address of the current screen with a changed query. */
export const withQuery = (changes: Query): string =>
  href(place.value.path, { ...place.value.query, ...changes });
