/** Maps `checkpointer.ttl` and `store.ttl` of langgraph.json to the setting `ttl`. */
import type { SettingPath } from "./document.js";

type Fields = Readonly<Record<string, unknown>>;

interface TtlOf {
  checkpointer: Fields;
  store: Fields;
}

interface TtlField {
  value: unknown;
  /** Path in langgraph.json by path in the setting. */
  paths: ReadonlyMap<string, SettingPath>;
}

const INTERVAL = "sweep_interval_minutes";

/** The setting, or undefined if nothing expires by default. One interval applies to both: the shorter one. */
export function ttlSetting({ checkpointer, store }: TtlOf): TtlField | undefined {
  const paths = new Map<string, SettingPath>();
  const take = (fields: Fields, from: string, names: Readonly<Record<string, string>>) => {
    const taken: Record<string, unknown> = {};
    for (const [name, as] of Object.entries(names)) {
      if (fields[name] == null) continue;
      taken[as] = fields[name];
      paths.set(`${from === "checkpointer" ? "threads" : "store"}.${as}`, [from, "ttl", name]);
    }
    return taken;
  };
  // A strategy without a default applies to nothing.
  const threads =
    checkpointer.default_ttl == null
      ? undefined
      : take(checkpointer, "checkpointer", { default_ttl: "minutes", strategy: "strategy" });
  const kept = take(store, "store", { default_ttl: "minutes", refresh_on_read: "refresh_on_read" });
  const items = Object.keys(kept).length > 0 ? kept : undefined;
  const from = intervalOf(checkpointer) <= intervalOf(store) ? "checkpointer" : "store";
  const interval = (from === "checkpointer" ? checkpointer : store)[INTERVAL];
  if (interval != null) paths.set(INTERVAL, [from, "ttl", INTERVAL]);
  if (!threads && !items && interval == null) return undefined;
  const value = {
    ...(threads && { threads }),
    ...(items && { store: items }),
    ...(interval != null && { [INTERVAL]: interval }),
  };
  return { value, paths };
}

/** What is not a number comes first, so that its error is reported. */
const intervalOf = (fields: Fields): number => {
  const interval = fields[INTERVAL];
  return interval == null ? Infinity : typeof interval === "number" ? interval : -1;
};
