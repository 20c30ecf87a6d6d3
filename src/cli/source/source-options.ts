/** Flags of the commands that have a source. */
import { Option } from "@commander-js/extra-typings";
import { CLIENT_KEY_VARIABLE } from "../../config/environment.js";
import { storageOptions } from "../commands/listen-options.js";

export const sourceOptions = {
  url: () => new Option("--url <url>", "ask this server instead of reading the storage"),
  apiKey: () =>
    new Option("--api-key <key>", `key that the server of --url asks for (env ${CLIENT_KEY_VARIABLE})`),
  scheme: storageOptions.scheme,
  uri: storageOptions.uri,
  raw: () => new Option("--raw", "also show what the graph's output schema hides (offline only)"),
};
