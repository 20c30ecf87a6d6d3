/** The server of the soak test: `server.ts <settings as JSON>`. Sends its URL, and its memory usage on request. */
import type { Settings } from "../../src/config/settings.js";
import { startServer } from "../../src/http/server.js";
import { openService } from "../../src/service/open.js";
import { bytesInUse } from "../helpers/heap.js";
import { graphs } from "./graphs.js";

const settings = JSON.parse(process.argv[2] ?? "{}") as Partial<Settings>;
const service = await openService({ graphs, settings });
const server = await startServer(service, { host: "127.0.0.1", port: 0 });
process.on("message", () => void bytesInUse().then((bytes) => process.send?.(bytes)));
process.once("disconnect", () => void server.close(0).then(() => process.exit()));
process.send?.(server.url);
