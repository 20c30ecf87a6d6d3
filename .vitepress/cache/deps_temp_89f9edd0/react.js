import {
  require_react
} from "./chunk-7W7PJIWV.js";
import "./chunk-WOOG5QLI.js";
export default require_react();
//# sourceMappingURL=react.js.map
