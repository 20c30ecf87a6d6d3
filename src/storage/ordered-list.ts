/** Items in order, found by halving. `compare` must tell any two items apart and must not change while they are in. */
export class OrderedList<T> {
  readonly #items: T[] = [];
  readonly #compare: (a: T, b: T) => number;

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get items(): readonly T[] {
    return this.#items;
  }

  insert(item: T): void {
    const index = this.#indexOf(item);
    if (index === this.#items.length) this.#items.push(item);
    else this.#items.splice(index, 0, item);
  }

  remove(item: T): void {
    const index = this.#indexOf(item);
    if (this.#items[index] === item) this.#items.splice(index, 1);
  }

  /** Where the item stands or would stand; a new item is mostly the last, which is tried first. */
  #indexOf(item: T): number {
    let low = 0;
    let high = this.#items.length;
    if (high > 0 && this.#compare(this.#items[high - 1]!, item) < 0) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(this.#items[middle]!, item) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
