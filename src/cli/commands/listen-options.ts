import { settingListOption, settingOption, type SettingFlags } from "../flags.js";

/** Flags of the commands that open a storage, and of those that listen. */
export const storageOptions = {
  scheme: () => settingOption("--checkpointer-scheme <scheme>", "checkpointer_scheme"),
  /** For commands that keep threads where nobody says where. */
  schemeOrFile: () =>
    settingOption("--checkpointer-scheme <scheme>", "checkpointer_scheme", "sqlite in .graph-serve/dev.db"),
  uri: () => settingOption("--checkpointer-uri <uri>", "checkpointer_uri"),
};

export const listenOptions = {
  port: () => settingOption("-p, --port <port>", "port"),
  host: () => settingOption("--host <host>", "host"),
  corsOrigin: () => settingListOption("--cors-origin <origin>", "cors_origins"),
  allowHost: () => settingListOption("--allow-host <name>", "allowed_hosts"),
};

export interface StorageFlags {
  checkpointerScheme?: string;
  checkpointerUri?: string;
}

export interface ListenFlags extends StorageFlags {
  port?: string;
  host?: string;
  corsOrigin?: string[];
  allowHost?: string[];
}

export function storageSettings({ checkpointerScheme, checkpointerUri }: StorageFlags): SettingFlags {
  return { checkpointer_scheme: checkpointerScheme, checkpointer_uri: checkpointerUri };
}

export function listenSettings(flags: ListenFlags): SettingFlags {
  const { port, host, corsOrigin, allowHost } = flags;
  return { ...storageSettings(flags), port, host, cors_origins: corsOrigin, allowed_hosts: allowHost };
}
