/** User code that the service calls in addition to graphs: the auth function, the app in front of the routes, and the embedding function. */
import { AuthHook } from "./auth-hook.js";
import type { EmbeddingHook } from "./embeddings.js";
import type { Settings } from "../config/settings.js";
import { HttpAppHook, type HttpApp } from "./http-app.js";
import type { Logger } from "../support/log.js";
import type { Authenticate, AuthRequest, Authorize, Caller } from "../models/caller.js";

interface HookSources {
  settings: Pick<Settings, "auth" | "auth_timeout_seconds" | "http_app">;
  /** Overrides the setting `auth`. */
  authenticate?: Authenticate;
  /** Reloaded with the hooks. */
  embeddings?: EmbeddingHook;
  /** Folder against which relative paths are resolved. */
  cwd: string;
}

export class UserHooks {
  readonly #auth: AuthHook | undefined;
  readonly #app: HttpAppHook | undefined;
  readonly #embeddings: EmbeddingHook | undefined;

  private constructor(auth: AuthHook | undefined, app: HttpAppHook | undefined, embeddings?: EmbeddingHook) {
    this.#auth = auth;
    this.#app = app;
    this.#embeddings = embeddings;
  }

  /** @throws ConfigError, GraphLoadError */
  static async open(
    { settings, authenticate, embeddings, cwd }: HookSources,
    logger: Logger,
  ): Promise<UserHooks> {
    const source = authenticate ?? settings.auth;
    const options = { cwd, timeoutSeconds: settings.auth_timeout_seconds };
    const auth = source === undefined ? undefined : await AuthHook.open(source, options, logger);
    const app = settings.http_app === undefined ? undefined : await HttpAppHook.open(settings.http_app, cwd);
    return new UserHooks(auth, app, embeddings);
  }

  /** Authenticates a request; undefined without authentication. @throws UnauthorizedError (`unauthorized`) */
  get authenticate(): ((request: AuthRequest, url?: string) => Promise<Caller>) | undefined {
    const auth = this.#auth;
    return auth && ((request, url) => auth.callerOf(request, url));
  }

  /** Undefined without an `Auth` object of LangGraph. */
  get authorize(): Authorize | undefined {
    return this.#auth?.authorize;
  }

  get httpApp(): HttpApp | undefined {
    return this.#app?.app;
  }

  /** Absolute paths of the modules and of every project file that they import. */
  get files(): readonly string[] {
    return [this.#auth, this.#app, this.#embeddings].flatMap((hook) => hook?.files ?? []);
  }

  /** Reloads the modules. If one fails to load, its last loaded version stays in use. @throws ConfigError, GraphLoadError */
  async reload(): Promise<void> {
    await this.#auth?.reload();
    await this.#app?.reload();
    await this.#embeddings?.reload();
  }
}
