import type { LoadedConfig } from "../../config/load.js";
import { maskSettings } from "../../config/mask.js";
import type { SettingOrigin } from "../../config/origin.js";
import { SettingsSchema, type SettingName } from "../../config/settings.js";
import { ConfigError } from "../../errors.js";
import { shortPath } from "../report-error.js";
import { loadSettings, type Session } from "../session.js";
import { wrapped } from "../view/wrap.js";

export interface ConfigPrintFlags {
  origin?: boolean;
  showSecrets?: boolean;
}

/** `config print`: the settings that hold. */
export async function printConfig(session: Session, flags: ConfigPrintFlags): Promise<number> {
  const { print, io } = session;
  const config = await loadSettings(session);
  const settings: Record<string, unknown> = flags.showSecrets
    ? config.settings
    : maskSettings(config.settings);
  if (print.flags.json) {
    print.json({ file: config.file ?? null, settings, ...(flags.origin && { origins: config.origins }) });
    return 0;
  }
  const rows = Object.entries(settings).map(([name, value]) => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
    ...(flags.origin ? [originText(config.origins[name as SettingName], io.cwd)] : []),
  ]);
  await print.table(["SETTING", "VALUE", ...(flags.origin ? ["ORIGIN"] : [])], rows);
  return 0;
}

function originText({ kind, detail }: SettingOrigin, cwd: string): string {
  if (kind === "file" && detail !== undefined) return shortPath(detail, cwd);
  return detail ?? kind;
}

/** `config path`: the file that was read. */
export async function printPath(session: Session): Promise<number> {
  const { file } = await loadSettings(session);
  if (file === undefined) {
    throw new ConfigError(`there is no configuration file in ${session.io.cwd} or above it`, {
      hint: "graph-serve init --config-only makes one",
    });
  }
  if (session.print.flags.json) session.print.json({ path: file });
  else session.print.data(file);
  return 0;
}

/** `config validate`: loading it is the check. */
export async function validateConfig(session: Session): Promise<number> {
  const config = await loadSettings(session);
  const { print } = session;
  if (print.flags.json) print.json({ file: config.file ?? null, warnings: config.warnings });
  else for (const line of wrapped(summary(config, session.io.cwd), print.width)) print.data(line);
  return 0;
}

function summary({ file, settings, warnings }: LoadedConfig, cwd: string): string {
  const name =
    file === undefined ? "no configuration file, the defaults hold" : `${shortPath(file, cwd)} is valid`;
  const graphs = Object.keys(settings.graphs);
  const parts = [name, graphs.length > 0 ? `graphs: ${graphs.join(", ")}` : "no graphs"];
  return [...parts, ...(warnings.length > 0 ? [`${warnings.length} warnings`] : [])].join("; ");
}

/** `config schema`: for editors that complete and check the file. */
export async function printSchema({ print }: Session): Promise<number> {
  print.data(
    JSON.stringify({ $schema: "https://json-schema.org/draft/2020-12/schema", ...SettingsSchema }, null, 2),
  );
  return 0;
}
