import type { RequestHandler } from "express";
import { newId } from "../ids.js";
import { noteRequest } from "./request-facts.js";

/** What proxies and tracing libraries use for ids, and nothing that could forge a line of a log. */
const SANE = /^[\w.:/+=@-]{1,128}$/;

/** Gives every request an id, its own `x-request-id` where that will do, and sends it back. */
export function requestId(): RequestHandler {
  return (req, res, next) => {
    const given = req.headers["x-request-id"];
    const id = typeof given === "string" && SANE.test(given) ? given : newId();
    noteRequest(req, id);
    res.setHeader("X-Request-Id", id);
    next();
  };
}
