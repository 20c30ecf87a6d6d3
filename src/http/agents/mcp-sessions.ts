/** Sessions of clients of the Model Context Protocol: so many, each for so long after its last use. */
import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";

/** Sessions of one process. */
const MOST_SESSIONS = 1_000;
/** The same of one user, where there are users. */
const MOST_SESSIONS_OF_USER = 50;
/** How long a session is kept in which no request and no stream is open. */
const SESSION_TTL_MS = 1_800_000;

export interface McpConnection {
  server: Server;
  transport: WebStandardStreamableHTTPServerTransport;
}

interface Session {
  id: string;
  /** The user who opened it. */
  owner: string;
  connection: Promise<McpConnection>;
  /** Requests and streams that are open. */
  open: number;
  usedAt: number;
}

export class McpSessions {
  readonly #connect: (newId: () => string) => Promise<McpConnection>;
  /** By id, the one that was used last at the end. */
  readonly #sessions = new Map<string, Session>();

  constructor(connect: (newId: () => string) => Promise<McpConnection>) {
    this.#connect = connect;
  }

  /** A new session; undefined when there are too many, all of them in use. */
  open(owner: string, isUser: boolean): Session | undefined {
    this.#dropOver();
    if (isUser) this.#makeRoomOf(owner);
    this.#makeRoom();
    if (this.#sessions.size >= MOST_SESSIONS) return undefined;
    const id = randomUUID();
    const connection = this.#connect(() => id);
    const session = { id, owner, connection, open: 0, usedAt: performance.now() };
    this.#sessions.set(id, session);
    return session;
  }

  /** The session of that id; undefined for one of another user too. */
  find(id: string, owner: string): Session | undefined {
    const session = this.#sessions.get(id);
    if (session?.owner !== owner) return undefined;
    if (!isOver(session)) return session;
    this.#drop(session);
    return undefined;
  }

  /** Keep a session while one of its requests is answered; one that has not begun by then never does. */
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

  /** The client has ended it. */
  forget({ id }: Session): void {
    this.#sessions.delete(id);
  }

  /** Tell every client that there are other tools now. */
  tellOfTools(): void {
    for (const { connection } of this.#sessions.values())
      void connection.then(({ server }) => server.sendToolListChanged()).catch(() => undefined);
  }

  /** End the streams on which clients listen; what is being answered is answered. */
  hangUp(): void {
    for (const { connection } of this.#sessions.values())
      connection.then(({ transport }) => transport.closeStandaloneSSEStream(), unopened);
  }

  #dropOver(): void {
    for (const session of this.#sessions.values()) {
      if (!isOver(session)) break;
      this.#drop(session);
    }
  }

  /** A user with many sessions makes room with their own, also with one whose stream is open. */
  #makeRoomOf(owner: string): void {
    const own = [...this.#sessions.values()].filter((session) => session.owner === owner);
    if (own.length < MOST_SESSIONS_OF_USER) return;
    const oldest = own.find(({ open }) => open === 0) ?? own[0];
    if (oldest) this.#drop(oldest);
  }

  /** Drop the session that was not used for longest, if there are too many. */
  #makeRoom(): void {
    if (this.#sessions.size < MOST_SESSIONS) return;
    const idle = [...this.#sessions.values()].find(({ open }) => open === 0);
    if (idle) this.#drop(idle);
  }

  #drop(session: Session): void {
    this.forget(session);
    session.connection.then(({ server }) => server.close(), unopened);
  }
}

/** Whoever opened it was told why it failed. */
const unopened = (): void => undefined;

const isOver = ({ open, usedAt }: Session): boolean =>
  open === 0 && performance.now() - usedAt > SESSION_TTL_MS;
