import {
  SubagentDiscoveryHandle,
  SubagentHandle
} from "./chunk-5SSZVL4A.js";
import "./chunk-AUYU756B.js";
import "./chunk-WOOG5QLI.js";
export {
  SubagentDiscoveryHandle,
  SubagentHandle
};
//# sourceMappingURL=subagents-6MJF6QII.js.map
