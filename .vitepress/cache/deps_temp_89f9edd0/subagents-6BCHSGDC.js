import {
  SubagentDiscoveryHandle,
  SubagentHandle
} from "./chunk-KGFHB3F6.js";
import "./chunk-AUYU756B.js";
import "./chunk-WOOG5QLI.js";
export {
  SubagentDiscoveryHandle,
  SubagentHandle
};
//# sourceMappingURL=subagents-6BCHSGDC.js.map
