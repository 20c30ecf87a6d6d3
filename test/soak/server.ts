/** The server of the soak: `server.ts <settings as JSON>`; sends its URL, and what memory it holds whenever it is asked. */
import type { Settings } from "../../src/config/settings.js";
import { startServer } from "../../src/http/server.js";
import { openService } from "../../src/service.js";
import { bytesInUse } from "../helpers/heap.js";
import { graphs } from "./graphs.js";

const settings = JSON.parse(process.argv[2] ?? "{}") as Partial<Settings>;
const service = await openService({ graphs, settings });
const server = await startServer(service, { host: "127.0.0.1", port: 0 });
process.on("message", () => void bytesInUse().then((bytes) => process.send?.(bytes)));
process.once("disconnect", () => void server.close(0).then(() => process.exit()));
process.send?.(server.url);
