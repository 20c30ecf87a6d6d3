import { storageError } from "./driver-errors.js";
import { connectionOf } from "./mongodb.js";
import { loadMongodbDriver } from "./mongodb-driver.js";
import { explainMongodb } from "./mongodb-errors.js";
import { SCHEMA_VERSION, storedVersion } from "./mongodb-schema.js";
import type { SchemaState } from "./schema-state.js";
import type { StorageOptions } from "./storage.js";

/** What the documents of a database stand at; one version counts for rows and the indexes of checkpoints. */
export async function mongodbSchema(options: StorageOptions): Promise<SchemaState> {
  const { client, place } = connectionOf(await loadMongodbDriver(), options);
  try {
    const version = await storedVersion(client.db(place.database));
    return { location: place.location, parts: [{ name: "documents", version, wanted: SCHEMA_VERSION }] };
  } catch (error) {
    throw storageError(error, explainMongodb(place.hosts));
  } finally {
    await client.close();
  }
}
