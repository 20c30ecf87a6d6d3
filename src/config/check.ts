/** Rules that join several settings, or that a schema cannot say. */
import { ConfigError, type SourceLocation } from "../errors.js";
import { flagOf, variableOf } from "./environment.js";
import { storageModule } from "../module-target.js";
import { nearest } from "../nearest.js";
import type { SettingOrigin } from "./origin.js";
import { SCHEMES, type SettingName, type Settings } from "./settings.js";

type Origins = Record<SettingName, SettingOrigin>;
type Locate = (name: SettingName) => SourceLocation | undefined;

/**
 * Check what the settings say together; returns warnings.
 * @throws ConfigError (`config_invalid`)
 */
export function checkSettings(settings: Settings, origins: Origins, locate: Locate): string[] {
  const fail = (name: SettingName, message: string, hint: string): never => {
    const { kind } = origins[name];
    const source = kind === "flag" ? `${flagOf(name)}: ` : kind === "env" ? `${variableOf(name)}: ` : "";
    throw new ConfigError(source + message, { hint, location: kind === "file" ? locate(name) : undefined });
  };
  const { checkpointer_scheme: scheme, default_assistant_id: defaultId } = settings;
  if (!SCHEMES.some((known) => known === scheme) && !storageModule(scheme)) {
    const similar = nearest(scheme, SCHEMES);
    const hint = similar === undefined ? `use one of: ${SCHEMES.join(", ")}` : `did you mean "${similar}"?`;
    fail(
      "checkpointer_scheme",
      `unknown checkpointer_scheme "${scheme}"; there are ${SCHEMES.join(", ")}`,
      hint,
    );
  }
  const ids = Object.keys(settings.graphs);
  if (defaultId !== undefined && ids.length > 0 && !ids.includes(defaultId)) {
    fail(
      "default_assistant_id",
      `default_assistant_id "${defaultId}" is no key of graphs`,
      `use one of: ${ids.join(", ")}`,
    );
  }
  return uriWarnings(settings);
}

/** A URI whose scheme is not the one that was chosen is ignored (spec, Persistence 3). */
function uriWarnings({ checkpointer_scheme: scheme, checkpointer_uri: uri }: Settings): string[] {
  if (uri === undefined || uriFits(scheme, uri)) return [];
  const kind = /^([a-z][a-z0-9+.-]*):/i.exec(uri)?.[1];
  const advice =
    kind && kind.length > 1 && kind !== "file" ? `the scheme ${kind}` : "checkpointer_scheme sqlite";
  return [
    `checkpointer_uri is ignored: it does not belong to checkpointer_scheme ${scheme}; set ${advice} to use it`,
  ];
}

const URIS: Record<string, RegExp> = {
  sqlite: /^(?![a-z][a-z0-9+.-]+:\/\/)|^(file|sqlite3?):/i,
  postgres: /^postgres(ql)?:\/\//i,
  postgresql: /^postgres(ql)?:\/\//i,
  mongodb: /^mongodb(\+srv)?:\/\//i,
  mongo: /^mongodb(\+srv)?:\/\//i,
  redis: /^rediss?:\/\//i,
  rediss: /^rediss?:\/\//i,
};

/** A storage of one's own takes whatever URI it is given. */
const uriFits = (scheme: string, uri: string): boolean =>
  storageModule(scheme) !== undefined || (URIS[scheme]?.test(uri) ?? false);
