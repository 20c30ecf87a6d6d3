/** Converts JSON schemas to TypeScript types in one self-contained file. */
import { isRecord, type JsonObject } from "../../models/common.js";
import { atPointer, propertiesOf, requiredOf } from "./resolve.js";

const MESSAGE_TYPE = `/** A chat message as the server sends and accepts it. */
export interface ChatMessage {
  type?: string;
  role?: string;
  id?: string;
  content: string | Record<string, unknown>[];
  [key: string]: unknown;
}`;

/**
 * Generates a module that exports a type for each named schema. Referenced definitions become separate types.
 */
export function toTypeScript(schemas: readonly { name: string; schema: JsonObject }[]): string {
  const declarations: string[] = [];
  const names = new Set(["ChatMessage", ...schemas.map(({ name }) => name)]);
  let needsMessages = false;
  for (const { name, schema } of schemas) {
    const writer = new TypeWriter(name, schema, names);
    const text = writer.type(schema, "");
    declarations.push(`${comment(schema, "")}export type ${name} = ${text};`, ...writer.definitions());
    needsMessages ||= writer.usesMessages;
  }
  return `${[...(needsMessages ? [MESSAGE_TYPE] : []), ...declarations].join("\n\n")}\n`;
}

class TypeWriter {
  usesMessages = false;
  readonly #name: string;
  readonly #root: JsonObject;
  readonly #taken: Set<string>;
  /** Names of referenced definitions by reference, in order of appearance. */
  readonly #references = new Map<string, string>();

  constructor(name: string, root: JsonObject, taken: Set<string>) {
    this.#name = name;
    this.#root = root;
    this.#taken = taken;
  }

  /** Declarations of referenced definitions; writing one can add others. */
  definitions(): string[] {
    const written: string[] = [];
    for (const [reference, name] of this.#references) {
      const schema = this.#lookUp(reference);
      written.push(
        `${isRecord(schema) ? comment(schema, "") : ""}export type ${name} = ${this.type(schema, "")};`,
      );
    }
    return written;
  }

  type(schema: unknown, indent: string): string {
    if (schema === false) return "never";
    if (!isRecord(schema)) return "unknown";
    if (typeof schema.$ref === "string") return this.#reference(schema.$ref);
    if (schema.langgraph_type === "messages") {
      this.usesMessages = true;
      return "ChatMessage[]";
    }
    if ("const" in schema) return literal(schema.const);
    if (Array.isArray(schema.enum)) return union(schema.enum.map(literal));
    for (const key of ["anyOf", "oneOf"]) {
      const members = schema[key];
      if (Array.isArray(members)) return union(members.map((member) => this.type(member, indent)));
    }
    if (Array.isArray(schema.allOf)) return this.#intersection(schema, schema.allOf, indent);
    const { type } = schema;
    return Array.isArray(type)
      ? union(type.map((each: unknown) => this.#typed({ ...schema, type: each }, indent)))
      : this.#typed(schema, indent);
  }

  #intersection({ allOf: _, ...own }: JsonObject, members: unknown[], indent: string): string {
    const parts = [...members, ...(own.properties ? [own] : [])].map((member) => this.type(member, indent));
    return parts.map((part) => (part.includes(" | ") ? `(${part})` : part)).join(" & ") || "unknown";
  }

  #typed(schema: JsonObject, indent: string): string {
    switch (schema.type) {
      case "string":
      case "number":
      case "boolean":
      case "null":
        return schema.type;
      case "integer":
        return "number";
      case "array":
        return this.#list(schema, indent);
      case "object":
        return this.#object(schema, indent);
      default:
        return schema.properties === undefined ? "unknown" : this.#object(schema, indent);
    }
  }

  #list({ items, prefixItems }: JsonObject, indent: string): string {
    const tuple = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : undefined;
    if (tuple) return `[${tuple.map((item) => this.type(item, indent)).join(", ")}]`;
    const item = this.type(items, indent);
    return /[ |&]/.test(item) && !item.startsWith("{") ? `(${item})[]` : `${item}[]`;
  }

  #object(schema: JsonObject, indent: string): string {
    const properties = Object.entries(propertiesOf(schema));
    const { additionalProperties: others } = schema;
    if (properties.length === 0) {
      return others === false ? "Record<string, never>" : `Record<string, ${this.type(others, indent)}>`;
    }
    const required = requiredOf(schema);
    const inner = `${indent}  `;
    const lines = properties.map(([key, value]) => {
      const note = isRecord(value) ? comment(value, inner) : "";
      const name = /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key);
      return `${note}${inner}${name}${required.includes(key) ? "" : "?"}: ${this.type(value, inner)};`;
    });
    // An index signature next to typed keys must also allow their types.
    if (isRecord(others) || others === true) lines.push(`${inner}[key: string]: unknown;`);
    return `{\n${lines.join("\n")}\n${indent}}`;
  }

  #reference(reference: string): string {
    if (reference === "#") return this.#name;
    const known = this.#references.get(reference);
    if (known !== undefined) return known;
    if (this.#lookUp(reference) === undefined) return "unknown";
    const name = this.#freeName(reference);
    this.#references.set(reference, name);
    return name;
  }

  #freeName(reference: string): string {
    const base = this.#name + typeName(reference.split("/").at(-1) ?? "");
    let name = base;
    for (let number = 2; this.#taken.has(name); number += 1) name = `${base}${number}`;
    this.#taken.add(name);
    return name;
  }

  #lookUp(reference: string): unknown {
    return atPointer(this.#root, reference);
  }
}

/** Converts a name to a type name: `my-agent` becomes `MyAgent`. */
export function typeName(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter(Boolean);
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
  return /^[A-Za-z]/.test(name) ? name : `Type${name}`;
}

const union = (types: string[]): string => [...new Set(types)].join(" | ") || "never";

function literal(value: unknown): string {
  return typeof value === "object" && value !== null ? "unknown" : JSON.stringify(value);
}

/** The description as a comment; comment terminators in it are escaped. */
function comment({ description }: JsonObject, indent: string): string {
  if (typeof description !== "string" || description.trim() === "") return "";
  const text = description.trim().replaceAll("*/", "*\\/").split(/\r?\n/);
  return text.length === 1
    ? `${indent}/** ${text[0] ?? ""} */\n`
    : `${indent}/**\n${text.map((line) => `${indent} * ${line}`).join("\n")}\n${indent} */\n`;
}
