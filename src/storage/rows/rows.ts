/** What a patch makes of a row: the rules that every backend shares. */
import type { JsonObject } from "../../models/common.js";
import type { RunStatus } from "../../models/run.js";
import type { RunHolder, RunPatch, RunRow, RunSearch, ThreadPatch, ThreadRow } from "../contract/storage.js";

/** The present time as rows keep it. */
export const now = (): string => new Date().toISOString();

export const UNFINISHED: readonly RunStatus[] = ["pending", "running"];

export const isFinished = (run: Pick<RunRow, "status">): boolean => !UNFINISHED.includes(run.status);

export const isHeldBy = (run: Pick<RunRow, keyof RunHolder>, { owner, attempt }: RunHolder): boolean =>
  run.owner === owner && (run.attempt ?? 1) === attempt;

/** Whether a filter's scope leaves the row in. */
export const inScope = ({ scope }: ThreadRow, wanted: string | undefined): boolean =>
  wanted === undefined || scope == null || scope === wanted;

/** Whether a search leaves the run in, whatever its thread. */
export const matchesRun = (
  { assistant_id, status, created_at }: RunRow,
  wanted: Pick<RunSearch, "assistantIds" | "status" | "createdAfter" | "createdBefore">,
): boolean =>
  (wanted.assistantIds?.includes(assistant_id) ?? true) &&
  (wanted.status ?? status) === status &&
  created_at >= (wanted.createdAfter ?? created_at) &&
  (wanted.createdBefore === undefined || created_at < wanted.createdBefore);

/** The row with the patch applied; neither argument is changed. */
export function patchThread(row: ThreadRow, patch: ThreadPatch): ThreadRow {
  const { mergeMetadata, ...fields } = patch;
  const patched = { ...row, ...defined(fields) };
  if (mergeMetadata) patched.metadata = { ...row.metadata, ...mergeMetadata };
  return patched;
}

/** The row with the patch applied; neither argument is changed. */
export const patchRun = (row: RunRow, patch: RunPatch): RunRow => ({ ...row, ...defined(patch) });

/** When the thread's time to live ends, in milliseconds since 1970; null when it has no end. */
export function expiryOf({ updated_at, ttl }: ThreadRow): number | null {
  return ttl && Date.parse(updated_at) + ttl.ttl_minutes * 60_000;
}

/** Keys set to undefined count as left out. */
function defined<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;
}

/** Containment of JSON values, in time that does not grow with the product of two lists. */

/**
 * Whether `value` contains `filter`, as PostgreSQL's `@>` has it: of an object every key of the filter, each with a
 * contained value; of an array some element that contains each of the filter's; a scalar that is equal.
 */
export function contains(value: unknown, filter: unknown): boolean {
  return containing(filter)(value);
}

/** `contains` for one filter and many values. */
export function containing(filter: unknown): (value: unknown) => boolean {
  if (Array.isArray(filter)) {
    const wanted = new Patterns(filter);
    return (value) => Array.isArray(value) && wanted.allIn(value);
  }
  if (!isObject(filter)) return (value) => value === filter;
  const tests = Object.keys(filter).map((key) => [key, containing(filter[key])] as const);
  return (value) =>
    isObject(value) && tests.every(([key, test]) => Object.hasOwn(value, key) && test(value[key]));
}

type Ids = Iterable<number>;
const NONE: readonly number[] = [];

/** Filters that a value is compared with all at once; an id a filter, the same for equal ones. */
class Patterns {
  readonly #ids = new Map<string, number>();
  /** A scalar is contained in itself alone. */
  readonly #scalars = new Map<unknown, readonly number[]>();
  readonly #lists: Shapes;
  readonly #objects: Shapes;

  constructor(filters: readonly unknown[]) {
    const lists: Shape[] = [];
    const objects: Shape[] = [];
    for (const filter of filters) {
      const identity = identityOf(filter);
      if (this.#ids.has(identity)) continue;
      const id = this.#ids.size;
      this.#ids.set(identity, id);
      if (Array.isArray(filter)) lists.push({ id, parts: filter.map((part: unknown) => ["", part]) });
      else if (isObject(filter)) objects.push({ id, parts: Object.entries(filter) });
      else this.#scalars.set(filter, [id]);
    }
    this.#lists = new Shapes(lists);
    this.#objects = new Shapes(objects);
  }

  get size(): number {
    return this.#ids.size;
  }

  idOf(filter: unknown): number {
    return this.#ids.get(identityOf(filter)) ?? -1;
  }

  /** The filters that `value` contains. */
  in(value: unknown): Ids {
    if (Array.isArray(value)) return this.#lists.inList(value);
    return isObject(value) ? this.#objects.inObject(value) : (this.#scalars.get(value) ?? NONE);
  }

  /** The filters that some element contains. */
  inAny(list: readonly unknown[]): Set<number> {
    const found = new Set<number>();
    for (const element of list) {
      if (found.size === this.size) break;
      for (const id of this.in(element)) found.add(id);
    }
    return found;
  }

  allIn(list: readonly unknown[]): boolean {
    return this.inAny(list).size === this.size;
  }
}

/** A list or an object of a filter. The parts of a list have no names. */
interface Shape {
  id: number;
  parts: [name: string, filter: unknown][];
}

/** What a shape needs: a value of this name that contains the filter with this id. */
interface Need {
  name: string;
  id: number;
}

interface Candidate {
  id: number;
  needs: Need[];
}

/** Lists, or objects, of a filter. Each is looked at only where a value has what the fewest of them need. */
class Shapes {
  /** Those that need nothing. */
  readonly #empty: number[] = [];
  readonly #parts = new Map<string, Patterns>();
  readonly #byNeed = new Map<string, Map<number, Candidate[]>>();

  constructor(shapes: readonly Shape[]) {
    const filters = new Map<string, unknown[]>();
    for (const [name, filter] of shapes.flatMap(({ parts }) => parts))
      entryOf(filters, name, list).push(filter);
    for (const [name, wanted] of filters) this.#parts.set(name, new Patterns(wanted));
    const candidates = shapes.map(({ id, parts }) => ({ id, needs: parts.map((part) => this.#need(part)) }));
    const counts = new Map<string, Map<number, number>>();
    for (const { name, id } of candidates.flatMap(({ needs }) => needs)) {
      const ofName = entryOf(counts, name, map<number>);
      ofName.set(id, (ofName.get(id) ?? 0) + 1);
    }
    const needed = ({ name, id }: Need) => counts.get(name)?.get(id) ?? 0;
    for (const candidate of candidates) {
      const [rarest] = candidate.needs.toSorted((a, b) => needed(a) - needed(b));
      if (!rarest) this.#empty.push(candidate.id);
      else entryOf(entryOf(this.#byNeed, rarest.name, map<Candidate[]>), rarest.id, list).push(candidate);
    }
  }

  inList(value: readonly unknown[]): Ids {
    const elements = this.#parts.get("");
    return elements ? this.#met(new Map([["", elements.inAny(value)]])) : this.#empty;
  }

  inObject(value: Record<string, unknown>): Ids {
    if (this.#parts.size === 0) return this.#empty;
    const found = new Map<string, Set<number>>();
    const keys = Object.keys(value);
    for (const name of keys.length < this.#parts.size ? keys : this.#parts.keys()) {
      const parts = Object.hasOwn(value, name) ? this.#parts.get(name) : undefined;
      if (parts) found.set(name, new Set(parts.in(value[name])));
    }
    return this.#met(found);
  }

  #met(found: ReadonlyMap<string, ReadonlySet<number>>): number[] {
    const met = [...this.#empty];
    for (const [name, ids] of found) {
      for (const id of ids) {
        for (const candidate of this.#byNeed.get(name)?.get(id) ?? []) {
          if (candidate.needs.every((need) => found.get(need.name)?.has(need.id))) met.push(candidate.id);
        }
      }
    }
    return met;
  }

  #need([name, filter]: Shape["parts"][number]): Need {
    return { name, id: this.#parts.get(name)?.idOf(filter) ?? -1 };
  }
}

const list = <T>(): T[] => [];
const map = <T>(): Map<number, T> => new Map();

function entryOf<Key, Value>(entries: Map<Key, Value>, key: Key, make: () => Value): Value {
  const entry = entries.get(key) ?? make();
  entries.set(key, entry);
  return entry;
}

/** One text for equal filters. */
function identityOf(filter: unknown): string {
  if (Array.isArray(filter)) return `[${filter.map(identityOf).join()}]`;
  if (!isObject(filter)) return typeof filter === "string" ? JSON.stringify(filter) : String(filter);
  const keys = Object.keys(filter).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${identityOf(filter[key])}`).join()}}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// Facts: what a metadata filter can be looked up by. A top-level metadata entry with a scalar value is one fact, its
// text `["key",value]` as JSON, so that no key or value needs escaping.

/** Longer facts are not indexed: they are texts to keep, not labels to look for. */
const LONGEST_FACT = 512;

/** The facts that a thread's metadata states. */
export function labelsOf(metadata: JsonObject): string[] {
  return Object.entries(metadata).flatMap(([key, value]) => factOf(key, value) ?? []);
}

/** A filter as the facts to look up, and the rest of it, to be tested by `contains()`; undefined when there is none. */
export function splitFilter(filter: JsonObject): { facts: string[]; rest: JsonObject | undefined } {
  const facts: string[] = [];
  const rest: [string, unknown][] = [];
  for (const [key, value] of Object.entries(filter)) {
    const fact = factOf(key, value);
    if (fact === undefined) rest.push([key, value]);
    else facts.push(fact);
  }
  return { facts, rest: rest.length > 0 ? Object.fromEntries(rest) : undefined };
}

function factOf(key: string, value: unknown): string | undefined {
  if (value === undefined || (typeof value === "object" && value !== null)) return undefined;
  const fact = JSON.stringify([key, value]);
  return fact.length <= LONGEST_FACT ? fact : undefined;
}
