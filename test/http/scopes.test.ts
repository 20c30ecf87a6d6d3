import { onBackendsButMongodb } from "../helpers/backends.js";
import { scopeOfStatelessRun, scopes } from "./on-backends/scopes.js";

scopes(onBackendsButMongodb);
scopeOfStatelessRun();
