import { ChangesModel } from "../../models/changes.js";
import { route } from "../core/route.js";

const DESCRIPTION = [
  "Server-sent events named `changes`, for lists that update without reload. The first one lists no changes: load what",
  "is shown after it, and nothing is missed. Changes of all processes that share the storage are reported, usually within",
  "half a second. With authentication, only the user's threads are included.",
  "A comment line is sent every 5 seconds.",
].join(" ");

export const changeRoutes = [
  route({
    id: "stream_changes",
    method: "get",
    path: "/changes",
    tag: "Changes",
    summary: "Stream changes of threads and runs",
    description: DESCRIPTION,
    responses: [
      {
        status: 200,
        description: "The changes.",
        schema: ChangesModel,
        contentType: "text/event-stream",
      },
    ],
    errors: ["too_many_streams"],
    handle: async ({ service }) => ({ kind: "stream", stream: await service.changes(), headers: {} }),
  }),
];
