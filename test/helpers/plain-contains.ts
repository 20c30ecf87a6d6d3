/** Reference implementation of containment: compares every part of the filter with every part of the value. */
export function plainContains(value: unknown, filter: unknown): boolean {
  if (Array.isArray(filter)) {
    return Array.isArray(value) && filter.every((part) => value.some((item) => plainContains(item, part)));
  }
  if (typeof filter !== "object" || filter === null) return value === filter;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.entries(filter).every(
    ([key, part]) => Object.hasOwn(value, key) && plainContains(value[key as never], part),
  );
}
