import { onBackendsButMongodb } from "../helpers/backends.js";
import { tours } from "./on-backends/tours.js";

tours(onBackendsButMongodb);
