/** What each storage can do, known before it is opened. test/storage/capabilities.test.ts compares it with open storages. */
export interface StorageCapabilities {
  /** Several processes can use it: thread locks hold across all of them. */
  shared: boolean;
  /** It can hold the run queue. */
  queue: boolean;
  /** It can carry frames between processes: the setting `stream` may name it. */
  frames: boolean;
  /** It can keep recordings: `recording.where` may be storage. */
  recordings: boolean;
}

const CAPABILITIES: Readonly<Record<string, StorageCapabilities>> = {
  memory: { shared: false, queue: false, frames: false, recordings: false },
  sqlite: { shared: false, queue: false, frames: false, recordings: true },
  postgres: { shared: true, queue: true, frames: true, recordings: true },
  mongodb: { shared: true, queue: false, frames: false, recordings: true },
  redis: { shared: false, queue: false, frames: true, recordings: false },
};

const ALIASES: Readonly<Record<string, string>> = {
  postgresql: "postgres",
  mongo: "mongodb",
  rediss: "redis",
};

/** Undefined for a custom storage. */
export function capabilitiesOf(scheme: string): StorageCapabilities | undefined {
  const name = Object.hasOwn(ALIASES, scheme) ? ALIASES[scheme]! : scheme;
  return Object.hasOwn(CAPABILITIES, name) ? CAPABILITIES[name] : undefined;
}

/** The schemes that can do this, for messages: `postgres or mongodb`. */
export const schemesWith = (capability: keyof StorageCapabilities): string =>
  Object.keys(CAPABILITIES)
    .filter((scheme) => CAPABILITIES[scheme]?.[capability])
    .join(" or ");
