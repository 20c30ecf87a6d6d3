import type { Command } from "@commander-js/extra-typings";
import { maskSettings } from "../../config/settings.js";
import { type SettingName, publishedSettingsSchema } from "../../config/settings.js";
import { ConfigError } from "../../support/errors.js";
import { addFormerCommand, examples, type Runner } from "../session/command.js";
import { DEV_STORAGE, storageConfig } from "../session/open.js";
import { originText } from "../session/report-error.js";
import { loadSettings, type Session } from "../session/session.js";
import { printTable } from "../terminal/table.js";

export function configCommand(config: Command, run: Runner): void {
  config.addHelpText("after", examples("graph-serve config print --origin", "graph-serve config path"));
  config
    .command("print")
    .description("Print the effective settings, with secrets masked.")
    .option("--origin", "also print the source of each setting")
    .option("--show-secrets", "print secrets unmasked")
    .addHelpText("after", examples("graph-serve config print --origin", "graph-serve config print --json"))
    .action((options, command) => run(command, async (session) => printConfig(session, options)));
  config
    .command("path")
    .description("Print the path of the configuration file.")
    .addHelpText("after", examples("graph-serve config path"))
    .action((_options, command) => run(command, async (session) => printPath(session)));
  addFormerCommand(config, "validate", "validate --config-only").action((_options, command) =>
    run(command, async (session) =>
      (await import("./validate.js")).validateConfig(session, [], { configOnly: true }),
    ),
  );
  config
    .command("schema")
    .description("Print the JSON schema of the configuration.")
    .addHelpText("after", examples("graph-serve config schema > graph-server.schema.json"))
    .action((_options, command) => run(command, async (session) => printSchema(session)));
}

interface ConfigPrintFlags {
  origin?: boolean;
  showSecrets?: boolean;
}

/** `config print`: prints the effective settings. */
async function printConfig(session: Session, flags: ConfigPrintFlags): Promise<number> {
  const { print, io } = session;
  const config = await storageConfig(session, {});
  const settings: Record<string, unknown> = flags.showSecrets
    ? config.settings
    : maskSettings(config.settings);
  if (print.flags.json) {
    print.json({ file: config.file ?? null, settings, ...(flags.origin && { origins: config.origins }) });
    return 0;
  }
  if (config.origins.checkpointer_scheme.detail === DEV_STORAGE)
    print.note("threads are stored there by dev and run, and read by other commands; start uses memory");
  const rows = Object.entries(settings).map(([name, value]) => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
    ...(flags.origin ? [originText(config.origins[name as SettingName], io.cwd)] : []),
  ]);
  printTable(print, ["SETTING", "VALUE", ...(flags.origin ? ["ORIGIN"] : [])], rows);
  return 0;
}

/** `config path`: prints the path of the configuration file. */
async function printPath(session: Session): Promise<number> {
  const { file } = await loadSettings(session);
  if (file === undefined) {
    throw new ConfigError(`no configuration file in ${session.io.cwd} or its parent folders`, {
      hint: "create one: graph-serve init --config-only",
    });
  }
  if (session.print.flags.json) session.print.json({ path: file });
  else session.print.data(file);
  return 0;
}

/** `config schema`: prints the schema that editors use for completion and validation. */
async function printSchema({ print }: Session): Promise<number> {
  print.data(JSON.stringify(publishedSettingsSchema(), null, 2));
  return 0;
}
