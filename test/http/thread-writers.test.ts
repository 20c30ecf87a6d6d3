import { onBackendsButMongodb } from "../helpers/backends.js";
import { hiddenKeys, severalGraphs } from "./on-backends/thread-writers.js";

hiddenKeys(onBackendsButMongodb);
severalGraphs();
