import type { Service } from "../service.js";
import type { Client } from "./client.js";
import type { ServerAddress } from "./server.js";

/** A service that was opened in this process. */
interface OpenedService {
  service: Service;
  /** Whether it was opened so that it shows what graphs hide. */
  unfiltered?: boolean;
}

interface ServerPlace extends ServerAddress {
  /** What runs where nothing names an assistant; the server's first one when left out. */
  assistant?: string;
}

/**
 * A client of the server at an address, or of an open service, which it closes with itself.
 * @throws InvalidRequestError when the address is no http address (`invalid_request`)
 */
export async function openClient(place: ServerPlace | OpenedService): Promise<Client> {
  if ("service" in place) return (await import("./local.js")).localClient(place.service, place);
  return (await import("./remote.js")).remoteClient(place, place.assistant);
}
