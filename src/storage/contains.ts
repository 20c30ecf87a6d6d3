/**
 * Whether `value` contains `filter`, as PostgreSQL's `@>` has it: of an object every key of the filter, each with a
 * contained value; of an array some element that contains each of the filter's; a scalar that is equal.
 */
export function contains(value: unknown, filter: unknown): boolean {
  if (Array.isArray(filter)) {
    return (
      Array.isArray(value) && filter.every((wanted) => value.some((element) => contains(element, wanted)))
    );
  }
  if (isObject(filter)) {
    return (
      isObject(value) &&
      Object.keys(filter).every((key) => Object.hasOwn(value, key) && contains(value[key], filter[key]))
    );
  }
  return value === filter;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
