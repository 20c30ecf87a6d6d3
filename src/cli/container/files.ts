/** What a container of a project is made of: Dockerfile, .dockerignore and, with a database, compose.yaml. */
import type { PackageManager } from "../../support/package-manager.js";

export interface ContainerProject {
  manager: PackageManager;
  /** Files of the folder that installing reads, the manifest and the lock file among them. */
  installFiles: readonly string[];
  /** Whether a yarn.lock is of the first release of yarn, whose flags are others. */
  isClassicYarn: boolean;
  /** Arguments of `start`: graphs that the configuration does not name. */
  graphs: readonly string[];
  port: number;
  /** Whether threads may be kept in SQLite. */
  needsSqlite: boolean;
}

const IMAGE = "node:22-bookworm";
const SERVER = "node_modules/graph-serve/bin/graph-serve.js";

/** The manager itself, and the packages of production as the lock file has them. */
function installSteps({ manager, isClassicYarn }: ContainerProject): string[] {
  const yarn = isClassicYarn
    ? "yarn install --frozen-lockfile --production"
    : "yarn workspaces focus --all --production";
  return {
    npm: ["npm ci --omit=dev"],
    pnpm: ["corepack enable", "pnpm install --frozen-lockfile --prod"],
    yarn: ["corepack enable", yarn],
    bun: ["npm install --global bun@1", "bun install --frozen-lockfile --production"],
  }[manager];
}

/** The native part that was fetched, else one that is built here; found as the server finds it. */
const SQLITE =
  `cd node_modules/graph-serve && { node -e "new (require('better-sqlite3'))(':memory:')" ||` +
  ` npm --prefix "$(node -p "path.dirname(require.resolve('better-sqlite3/package.json'))")" run install; }`;

/**
 * Two stages, so that compilers and caches stay out of the image. The server runs without a shell, so it gets signals.
 * A manager may have run no build scripts, so SQLite is tried, and built where it does not load.
 */
export function dockerfile(project: ContainerProject): string {
  const { installFiles, needsSqlite, graphs, port } = project;
  const probe = `fetch('http://127.0.0.1:${port}/ok').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))`;
  const start = ["node", SERVER, "start", ...graphs, "--host", "0.0.0.0", "--port", String(port)];
  return `# Made by: graph-serve dockerfile
FROM ${IMAGE} AS build
WORKDIR /app
COPY ${installFiles.join(" ")} ./
${[...installSteps(project), ...(needsSqlite ? [SQLITE] : [])].map((step) => `RUN ${step}\n`).join("")}COPY . .

FROM ${IMAGE}-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build --chown=node:node /app /app
USER node
EXPOSE ${port}
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ${words(["node", "-e", probe])}
CMD ${words(start)}
`;
}

const words = (list: readonly string[]): string => `[${list.map((word) => JSON.stringify(word)).join(", ")}]`;

/** What must not come into the image: what it makes itself, what was kept while developing, and secrets, in any folder. */
export const DOCKERIGNORE = `**/node_modules
.git
**/.graph-serve
**/.env
**/.env.*
!**/.env.example
**/.npmrc
**/*.db
**/*.db-shm
**/*.db-wal
coverage
reports
Dockerfile
.dockerignore
compose.yaml
`;

const ENVIRONMENT = { scheme: "GRAPH_SERVE_CHECKPOINTER_SCHEME", uri: "GRAPH_SERVE_CHECKPOINTER_URI" };

/** The server with PostgreSQL. The password comes from the environment, or from `.env` beside it. */
export function compose(port: number): string {
  const password = "${POSTGRES_PASSWORD:?set it in the environment or in .env, of letters and digits}";
  return `# Made by: graph-serve dockerfile --compose
services:
  graphs:
    build: .
    restart: unless-stopped
    # Longer than the server waits for runs that are in flight.
    stop_grace_period: 20s
    ports:
      # Reached from this machine alone; name a proxy, or leave the address out, for others.
      - "127.0.0.1:${port}:${port}"
    env_file:
      # Keys of models, and what else the graphs need.
      - path: .env
        required: false
    environment:
      ${ENVIRONMENT.scheme}: postgres
      ${ENVIRONMENT.uri}: postgresql://graphs:${password}@database:5432/graphs
    depends_on:
      database:
        condition: service_healthy
  database:
    image: postgres:17
    restart: unless-stopped
    environment:
      POSTGRES_USER: graphs
      POSTGRES_DB: graphs
      POSTGRES_PASSWORD: ${password}
    volumes:
      - database:/var/lib/postgresql/data
    healthcheck:
      test: ["CMD", "pg_isready", "--username=graphs", "--dbname=graphs"]
      interval: 5s
      timeout: 5s
      retries: 12
volumes:
  database:
`;
}
