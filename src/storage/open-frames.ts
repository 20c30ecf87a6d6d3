/** Opens the bus that shares run frames between processes: the settings `stream` and `stream_uri`. */
import { ConfigError } from "../support/errors.js";
import type { FrameBus } from "./contract/frame-bus.js";
import { isPostgresUri } from "./postgres/options.js";
import { isRedisUri } from "./redis/options.js";
import type { StorageOptions } from "./contract/storage.js";

interface FrameOptions extends Pick<
  StorageOptions,
  "checkpointer_scheme" | "checkpointer_uri" | "checkpointer_options"
> {
  stream: string;
  stream_uri?: string;
}

const IS_OF = { redis: isRedisUri, postgres: isPostgresUri };
const EXAMPLES = { redis: "redis://host:6379/0", postgres: "postgresql://user:password@host:5432/database" };

/**
 * Open the frame bus. An unreachable server is retried in the background; runs do not wait for it.
 * @throws ConfigError if no server is configured (`config_invalid`)
 * @throws StorageUnavailableError if the driver package cannot be loaded (`storage_unavailable`)
 */
export async function openFrameBus(options: FrameOptions): Promise<FrameBus> {
  const { checkpointer_options: all } = options;
  if (options.stream === "redis") {
    const { RedisFrames } = await import("./redis/frames.js");
    return RedisFrames.open(
      uriOf("redis", options),
      isOfStorage("redis", options) ? all.key_prefix : undefined,
    );
  }
  const { PostgresFrames } = await import("./postgres/frames.js");
  return PostgresFrames.open(uriOf("postgres", options), isOfStorage("postgres", options) ? all : {});
}

type Kind = keyof typeof IS_OF;

function uriOf(kind: Kind, options: FrameOptions): string {
  const { stream_uri, checkpointer_uri } = options;
  const uri = stream_uri ?? (isOfStorage(kind, options) ? checkpointer_uri : undefined);
  if (uri !== undefined && IS_OF[kind](uri)) return uri;
  throw new ConfigError(
    uri === undefined
      ? `stream ${kind} needs a server, and neither stream_uri nor the storage names one`
      : `stream_uri is not a URI for stream ${kind}`,
    { hint: `set stream_uri to a URI such as ${EXAMPLES[kind]}` },
  );
}

/** Whether the storage uses the same kind of server: frames then use its server and options too. */
const isOfStorage = (kind: Kind, { checkpointer_scheme, checkpointer_uri = "" }: FrameOptions): boolean =>
  IS_OF[kind](`${checkpointer_scheme}://`) && IS_OF[kind](checkpointer_uri);
