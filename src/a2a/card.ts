import type { AgentCard } from "@a2a-js/sdk";
import type { Assistant } from "../models/assistant.js";
import { VERSION } from "../support/own-package.js";

const MODES = ["text/plain", "application/json"];

export function agentCard({ graph_id, name, description }: Assistant, url: string): AgentCard {
  const what = description ?? `Runs the graph ${graph_id}.`;
  const at = (protocolVersion: string) => ({ url, protocolBinding: "JSONRPC", tenant: "", protocolVersion });
  return {
    name,
    description: what,
    supportedInterfaces: [at("1.0"), at("0.3")],
    provider: undefined,
    version: VERSION,
    capabilities: { streaming: true, pushNotifications: false, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: MODES,
    defaultOutputModes: MODES,
    skills: [
      {
        id: graph_id,
        name,
        description: what,
        tags: [graph_id],
        examples: [],
        inputModes: MODES,
        outputModes: MODES,
        securityRequirements: [],
      },
    ],
    signatures: [],
  };
}

/** Additional fields that clients of version 0.3 read. */
export const legacyFields = (url: string) => ({
  protocolVersion: "0.3.0",
  url,
  preferredTransport: "JSONRPC",
});
