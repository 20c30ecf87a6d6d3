/** Server information, read once. */
import type { ServerInfo } from "../../src/models/info.js";
import { ask } from "../api.js";
import { load, loading } from "./loading.js";

export const server = loading<ServerInfo>();

export const readServer = (): Promise<void> =>
  load(server, async () => (await ask<ServerInfo>("GET", "/info")).body);
