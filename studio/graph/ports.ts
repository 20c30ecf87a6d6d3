/** Where edges leave and enter items, so that edges beside a pair do not cross it. */
import type { EdgeKind, LevelEdge } from "./edges.js";
import type { LevelItem } from "./level.js";
import type { Ranks } from "./ranks.js";

export interface Grid {
  items: ReadonlyMap<string, LevelItem>;
  ranks: Ranks;
}

/** Distance of the lines of a pair from their middle. */
export const HALF_PAIR = 13;
/** Distance of other edges from the middle of an item that also has a pair. */
const BESIDE = 32;
const NARROW = 25;

export class Ports {
  readonly #grid: Grid;
  readonly #edges: readonly LevelEdge[];
  readonly #kinds: ReadonlyMap<LevelEdge, EdgeKind>;

  constructor(grid: Grid, edges: readonly LevelEdge[], kinds: ReadonlyMap<LevelEdge, EdgeKind>) {
    this.#grid = grid;
    this.#edges = edges;
    this.#kinds = kinds;
  }

  /** Position at the lower side of an item. */
  below(id: string, edge: LevelEdge): number {
    return this.#middle(id, "exit") + this.#offset(id, edge, "below");
  }

  /** Position at the upper side of an item. */
  above(id: string, edge: LevelEdge): number {
    return this.#middle(id, "entry") + this.#offset(id, edge, "above");
  }

  /** Whether several edges share the end, so that it must not be moved for one of them. */
  isShared(id: string, side: "above" | "below"): boolean {
    return this.#edges.filter((each) => this.#isDownAt(each, id, side)).length > 1;
  }

  /** Positions at which both lines of a pair are straight; empty (left > right) if its items are not above each other. */
  pairRange(edge: LevelEdge): { left: number; right: number } {
    const isUp = this.#kinds.get(edge) === "pair";
    const [upper, lower] = isUp ? [edge.target, edge.source] : [edge.source, edge.target];
    const pair = this.#edges.find((each) => this.#kinds.get(each) === "pair" && this.#isOf(each, edge));
    if (!pair) return { left: 1, right: 0 };
    const above = this.#freeRange(upper, pair, "below");
    const below = this.#freeRange(lower, pair, "above");
    return { left: Math.max(above.left, below.left), right: Math.min(above.right, below.right) };
  }

  /** Where the middle of a pair may be at an item. */
  #freeRange(id: string, pair: LevelEdge, side: "above" | "below"): { left: number; right: number } {
    const middle = this.#middle(id, side === "below" ? "exit" : "entry");
    const most = (this.#grid.items.get(id)?.width ?? 0) / 2 - HALF_PAIR - 10;
    const offset = this.#offset(id, pair, side);
    const others = this.#edges.some((each) => this.#isDownAt(each, id, side) && !this.#isOf(each, pair));
    if (!others) return { left: middle - most, right: middle + most };
    if (offset === 0) return { left: middle, right: middle };
    return offset > 0 ? { left: middle, right: middle + most } : { left: middle - most, right: middle };
  }

  #middle(id: string, port: "entry" | "exit"): number {
    const x = this.#grid.ranks.items.get(id)?.x ?? 0;
    const item = this.#grid.items.get(id);
    return item ? x - item.width / 2 + item[port] : x;
  }

  #offset(id: string, edge: LevelEdge, side: "above" | "below"): number {
    const pair = this.#edges.find((each) => this.#isPairAt(each, id, side));
    if (!pair) return 0;
    const lane = this.#farX(pair, side);
    const others = this.#edges.filter((each) => this.#isDownAt(each, id, side) && !this.#isOf(each, pair));
    const left = others.filter((each) => this.#farX(each, side) < lane);
    const isSplit = left.length > 0 && left.length < others.length;
    const isLeft = left.length > 0;
    if (this.#isOf(edge, pair)) return isSplit || others.length === 0 ? 0 : isLeft ? 9 : -9;
    const distance = isSplit ? BESIDE : NARROW;
    return left.includes(edge) || (!others.includes(edge) && isLeft) ? -distance : distance;
  }

  #isPairAt(edge: LevelEdge, id: string, side: "above" | "below"): boolean {
    return this.#kinds.get(edge) === "pair" && (side === "below" ? edge.target : edge.source) === id;
  }

  #isDownAt(edge: LevelEdge, id: string, side: "above" | "below"): boolean {
    return this.#kinds.get(edge) === "down" && (side === "below" ? edge.source : edge.target) === id;
  }

  /** The edge itself or its opposite. */
  #isOf(edge: LevelEdge, pair: LevelEdge): boolean {
    return edge === pair || (edge.source === pair.target && edge.target === pair.source);
  }

  /** Position of the next point of an edge, seen from the item. */
  #farX(edge: LevelEdge, side: "above" | "below"): number {
    const { items, ways } = this.#grid.ranks;
    const isUp = this.#kinds.get(edge) === "pair";
    const [upper, lower] = isUp ? [edge.target, edge.source] : [edge.source, edge.target];
    const way = ways.get(edge.key) ?? [];
    const next = side === "below" ? way[0] : way.at(-1);
    return next?.x ?? items.get(side === "below" ? lower : upper)?.x ?? 0;
  }
}
