/**
 * Servers are killed or stopped, and started again, while clients send any operations: every acknowledged edit is kept, and
 * each accepted run ends with all that it wrote, once.
 */
import { onKilledServers } from "../helpers/killed-servers.js";
import { RandomClients } from "../helpers/random-clients.js";

const OPERATIONS = 500;

onKilledServers("keep what they acknowledged", async (killed) => {
  const clients = new RandomClients(killed);
  await clients.send(OPERATIONS);
  await clients.check(120_000);
});
