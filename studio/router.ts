/** The address is the state: `#/threads/ID/at/CP?tab=state`, behind a hash so that any prefix and any file will do. */
import { computed, signal } from "@preact/signals";
// Removes invalid parts from the address first.
import { isReadOnly } from "./api.js";
import { takeToken } from "./state/helper.js";
import { href, parsePlace, type Query } from "./address.js";

export { href };

takeToken();
const hash = signal(location.hash);
addEventListener("hashchange", () => (hash.value = location.hash));

/** The first screen: where nothing runs there is nothing to run. */
const HOME = isReadOnly ? "threads" : "run";

/** Where the reader is. */
export const place = computed(() => {
  const { path, query } = parsePlace(hash.value);
  return { path: path.length === 0 ? [HOME] : path, query };
});

/** Go there; with `replace` the way back does not lead here. */
export function go(address: string, { replace = false } = {}): void {
  if (address === location.hash) return;
  history[replace ? "replaceState" : "pushState"](null, "", address);
  hash.value = address;
}

/** The same place with some of the query changed. */
export const withQuery = (changes: Query): string =>
  href(place.value.path, { ...place.value.query, ...changes });
