/** Maps `http.cors` of langgraph.json to settings. */

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
