/** Maps fields of langgraph.json to settings: `checkpointer.ttl`, `store.ttl` and `http.cors`. */
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

/** Settings by field of `http.cors`. */
const SETTINGS: Record<string, string> = {
  allow_origins: "cors_origins",
  allow_origin_regex: "cors_origin_regex",
  allow_methods: "cors_methods",
  allow_headers: "cors_headers",
  allow_credentials: "cors_credentials",
  expose_headers: "cors_expose_headers",
  max_age: "cors_max_age",
};

interface CorsField {
  key: string;
  /** The matching setting; undefined for an unknown field. */
  setting: string | undefined;
  value: unknown;
}

/** Without a list of origins, only the pattern applies: the default origins are not allowed. */
export function corsFields(cors: Readonly<Record<string, unknown>>): CorsField[] {
  const fields = Object.entries(cors).map(([key, value]) => ({ key, setting: SETTINGS[key], value }));
  const isPatternAlone = cors.allow_origin_regex !== undefined && cors.allow_origins === undefined;
  if (isPatternAlone) fields.push({ key: "allow_origin_regex", setting: "cors_origins", value: [] });
  return fields.filter(({ value }) => value !== undefined && value !== null);
}
