/** The API behaves identically on every backend: its answers do not reveal which storage is used. */
import { beforeAll, describe, expect, it } from "vitest";
import { startServer } from "../../../src/http/server.js";
import { openService } from "../../../src/service/open.js";
import { client } from "../../helpers/app.js";
import { MEMORY, type Backend, type OnBackends } from "../../helpers/backends.js";
import { Recorder } from "../promises/recorder.js";
import { takeTour, TOUR_GRAPHS } from "../promises/tour.js";

async function start({ settings, cwd }: Backend) {
  const service = await openService({ graphs: TOUR_GRAPHS, settings, cwd });
  const server = await startServer(service, { host: "127.0.0.1", port: 0 });
  const stop = async () => {
    await server.close(0);
    await service.close(0);
  };
  return { ...client(server.url), stop };
}

/** Only durable storage is reopened during the tour. */
async function tour(backend: Backend): Promise<string[]> {
  let server = await start(backend);
  const recorder = new Recorder(server);
  const restart = async () => {
    if (!backend.durable) return;
    await server.stop();
    server = await start(backend);
    recorder.use(server);
  };
  try {
    return await takeTour(recorder, restart);
  } finally {
    await server.stop();
  }
}

export function tours(on: OnBackends): void {
  describe("the API tour", () => {
    let golden: string[];
    beforeAll(async () => {
      golden = await tour(MEMORY);
    });

    on("answers equal to memory", (backend) => {
      it(
        "every answer equals that of the memory backend, before and after a restart",
        { timeout: 120_000 },
        async () => {
          const transcript = await tour(backend());
          for (const [index, line] of golden.entries()) expect(transcript[index]).toBe(line);
          expect(transcript).toHaveLength(golden.length);
        },
      );
    });
  });
}
