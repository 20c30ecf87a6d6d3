/** The slowest HTTP tests of every backend, on MongoDB. */
import { onMongodb } from "../helpers/backends.js";
import { scopes } from "./on-backends/scopes.js";
import { hiddenKeys } from "./on-backends/thread-writers.js";
import { tours } from "./on-backends/tours.js";

tours(onMongodb);
scopes(onMongodb);
hiddenKeys(onMongodb);
