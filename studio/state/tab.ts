/** Lists that this tab keeps across reloads. */

/** The stored list; empty if there is none, or it cannot be read. */
export function tabList<Item>(key: string): Item[] {
  try {
    const stored = JSON.parse(sessionStorage.getItem(key) ?? "[]") as unknown;
    return Array.isArray(stored) ? (stored as Item[]) : [];
  } catch {
    return [];
  }
}
