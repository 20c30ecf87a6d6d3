/** The embedding function of the setting store_index: the project's own, loaded like graphs, or a provider's. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { SettingsInput } from "../config/settings.js";
import { loadExport } from "../graphs/load.js";
import { type Embedder, ItemIndex } from "../storage/item-index.js";
import { ConfigError } from "../support/errors.js";
import { errorMessage } from "../support/errors/thrown.js";
import type { Logger } from "../support/log.js";
import { parseModuleTarget } from "../support/module-target.js";
import { loadOptional } from "../support/optional-package.js";

type StoreIndex = NonNullable<SettingsInput["store_index"]>;

interface Loaded {
  embedder: Embedder;
  files: readonly string[];
}

/** LangChain's packages with a class for embeddings, by the provider's name in LangChain. */
const PROVIDERS: Readonly<Record<string, readonly [name: string, export_: string] | undefined>> = {
  azure_openai: ["@langchain/openai", "AzureOpenAIEmbeddings"],
  bedrock: ["@langchain/aws", "BedrockEmbeddings"],
  cohere: ["@langchain/cohere", "CohereEmbeddings"],
  google_genai: ["@langchain/google-genai", "GoogleGenerativeAIEmbeddings"],
  google_vertexai: ["@langchain/google-vertexai", "VertexAIEmbeddings"],
  mistralai: ["@langchain/mistralai", "MistralAIEmbeddings"],
  ollama: ["@langchain/ollama", "OllamaEmbeddings"],
  openai: ["@langchain/openai", "OpenAIEmbeddings"],
};

export class EmbeddingHook {
  readonly #setting: StoreIndex;
  readonly #load: () => Promise<Loaded>;
  #loaded: Loaded;

  private constructor(setting: StoreIndex, load: () => Promise<Loaded>, loaded: Loaded) {
    this.#setting = setting;
    this.#load = load;
    this.#loaded = loaded;
  }

  /**
   * @param cwd folder against which the path is resolved
   * @throws ConfigError, GraphLoadError
   */
  static async open(setting: StoreIndex, cwd: string): Promise<EmbeddingHook> {
    const load = () => loadEmbedder(setting.embed, cwd);
    return new EmbeddingHook(setting, load, await load());
  }

  index(logger: Logger): ItemIndex {
    return new ItemIndex(() => this.#loaded.embedder, this.#setting, logger);
  }

  get files(): readonly string[] {
    return this.#loaded.files;
  }

  /** Reloads the module. If that fails, the last loaded one stays in use. @throws ConfigError, GraphLoadError */
  async reload(): Promise<void> {
    this.#loaded = await this.#load();
  }
}

async function loadEmbedder(embed: string, cwd: string): Promise<Loaded> {
  const [, provider, model] = /^([a-z][\w-]+):(.+)$/.exec(embed) ?? [];
  if (provider !== undefined && model !== undefined)
    return { embedder: providerEmbedder({ embed, provider, model }, cwd), files: [] };
  const { path: given, exportName = "default" } = parseModuleTarget(embed);
  const path = resolve(cwd, given);
  if (!existsSync(path))
    throw new ConfigError(`store_index: file ${given} not found`, {
      hint: "check the path; it is resolved from the folder of the configuration",
    });
  const { value, names, files } = await loadExport({ path, exportName }, { baseDir: cwd });
  if (!names.includes(exportName))
    throw new ConfigError(`store_index: ${given} has no export "${exportName}"`, {
      hint: `exports there: ${names.join(", ") || "none"}`,
    });
  const embedder = embedderOf(value);
  if (embedder) return { embedder, files };
  throw new ConfigError(`store_index: ${given}:${exportName} is not an embedding function`, {
    hint: "export async (texts: string[]) => number[][], or an object with embedDocuments and embedQuery",
  });
}

type Embed = (texts: string[]) => Promise<unknown>;

/** LangChain's `Embeddings`, independent of the project's copy of LangChain. */
interface Embeddings {
  embedDocuments: Embed;
  embedQuery: (text: string) => Promise<unknown>;
}

function embedderOf(value: unknown): Embedder | undefined {
  if (typeof value === "function") {
    const embed = value as Embed;
    return {
      documents: async (texts) => embed(texts),
      query: async (text) => {
        const vectors = await embed([text]);
        return Array.isArray(vectors) ? (vectors as unknown[])[0] : vectors;
      },
    };
  }
  const embeddings = (value ?? {}) as Partial<Embeddings>;
  if (typeof embeddings.embedDocuments !== "function" || typeof embeddings.embedQuery !== "function")
    return undefined;
  const { embedDocuments, embedQuery } = embeddings;
  return {
    documents: (texts) => embedDocuments.call(value, texts),
    query: (text) => embedQuery.call(value, text),
  };
}

interface ProviderModel {
  embed: string;
  provider: string;
  model: string;
}

/** @throws ConfigError if the provider is unknown, or its package is missing (`config_invalid`) */
function providerEmbedder({ embed, provider, model }: ProviderModel, cwd: string): Embedder {
  const [id, name] = PROVIDERS[provider] ?? [];
  if (id === undefined || name === undefined)
    throw new ConfigError(`store_index: ${embed}: the provider ${provider} is not supported`, {
      hint: `use one of ${Object.keys(PROVIDERS).join(", ")}, or a function: ./embed.ts:embed`,
    });
  const exports = loadOptional<Record<string, unknown>>(id, { cwd, setting: `store_index ${embed}` });
  const Provider = exports[name] as (new (options: { model: string }) => unknown) | undefined;
  let cause: unknown;
  try {
    const embedder = Provider && embedderOf(new Provider({ model }));
    if (embedder) return embedder;
  } catch (error) {
    cause = error;
  }
  throw new ConfigError(
    `store_index: ${embed}: ${cause === undefined ? `${id} has no ${name}: update it` : errorMessage(cause)}`,
    { cause },
  );
}
