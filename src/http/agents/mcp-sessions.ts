/** Sessions of MCP clients, limited in number and idle time. */
import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";

/** Maximum number of sessions per process. */
const MOST_SESSIONS = 1_000;
/** Maximum number of sessions per user, if there are users. */
const MOST_SESSIONS_OF_USER = 50;
/** Idle time, without an open request or stream, after which a session ends, in milliseconds. */
const SESSION_TTL_MS = 1_800_000;

export interface McpConnection {
  server: Server;
  transport: WebStandardStreamableHTTPServerTransport;
}

interface Session {
  id: string;
  owner: string;
  connection: Promise<McpConnection>;
  /** Number of open requests and streams. */
  open: number;
  usedAt: number;
}

export class McpSessions {
  readonly #connect: (newId: () => string) => Promise<McpConnection>;
  /** By id, most recently used last. */
  readonly #sessions = new Map<string, Session>();

  constructor(connect: (newId: () => string) => Promise<McpConnection>) {
    this.#connect = connect;
  }

  /** Opens a session; undefined if there are too many and all are in use. */
  open(owner: string, isUser: boolean): Session | undefined {
    this.#dropExpired();
    if (isUser) this.#limitSessionsOf(owner);
    this.#limitSessions();
    if (this.#sessions.size >= MOST_SESSIONS) return undefined;
    const id = randomUUID();
    const connection = this.#connect(() => id);
    const session = { id, owner, connection, open: 0, usedAt: performance.now() };
    this.#sessions.set(id, session);
    return session;
  }

  /** The session with this id; undefined if it belongs to another user. */
  find(id: string, owner: string): Session | undefined {
    const session = this.#sessions.get(id);
    if (session?.owner !== owner) return undefined;
    if (!isExpired(session)) return session;
    this.#drop(session);
    return undefined;
  }

  /**
   * Keeps a session alive during a request. A session that was not initialized by the end of the
   * request is dropped.
   */
  hold(session: Session, res: ServerResponse): void {
    session.open += 1;
    res.once("close", () => {
      session.open -= 1;
      session.usedAt = performance.now();
      if (!this.#sessions.delete(session.id)) return;
      const keep = ({ transport }: McpConnection) => {
        if (transport.sessionId !== undefined) this.#sessions.set(session.id, session);
      };
      session.connection.then(keep, unopened);
    });
  }

  forget({ id }: Session): void {
    this.#sessions.delete(id);
  }

  /** Notifies all clients that the tools have changed. */
  notifyToolsChanged(): void {
    for (const { connection } of this.#sessions.values())
      void connection.then(({ server }) => server.sendToolListChanged()).catch(() => undefined);
  }

  /** Ends the event streams of all clients; requests in progress are completed. */
  closeStreams(): void {
    for (const { connection } of this.#sessions.values())
      connection.then(({ transport }) => transport.closeStandaloneSSEStream(), unopened);
  }

  #dropExpired(): void {
    for (const session of this.#sessions.values()) {
      if (!isExpired(session)) break;
      this.#drop(session);
    }
  }

  /** A user at the limit loses their own oldest session, even if its stream is open. */
  #limitSessionsOf(owner: string): void {
    const own = [...this.#sessions.values()].filter((session) => session.owner === owner);
    if (own.length < MOST_SESSIONS_OF_USER) return;
    const oldest = own.find(({ open }) => open === 0) ?? own[0];
    if (oldest) this.#drop(oldest);
  }

  /** Drops the least recently used idle session if there are too many. */
  #limitSessions(): void {
    if (this.#sessions.size < MOST_SESSIONS) return;
    const idle = [...this.#sessions.values()].find(({ open }) => open === 0);
    if (idle) this.#drop(idle);
  }

  #drop(session: Session): void {
    this.forget(session);
    session.connection.then(({ server }) => server.close(), unopened);
  }
}

/** The request that opened the session has already reported the error. */
const unopened = (): void => undefined;

const isExpired = ({ open, usedAt }: Session): boolean =>
  open === 0 && performance.now() - usedAt > SESSION_TTL_MS;
