import { ThreadMemorySaver } from "../../src/storage/memory/saver.js";
import { openMemory } from "../../src/storage/memory/open.js";
import { conformance } from "./conformance.js";
import { storageContract } from "./contract.js";

const options = { checkpointer_scheme: "memory", checkpointer_options: {}, max_queued_runs: 2 };

storageContract("memory", () => openMemory(options), { durable: false });

conformance("MemorySaver", () => new ThreadMemorySaver());
