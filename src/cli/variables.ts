/** Variables of the env file in this process. Graphs read them from there; what was set before us stays. */
import type { Variables } from "../config/expand.js";

const ours = new Map<string, string>();

const isOurs = (name: string, env: Variables): boolean => ours.has(name) && ours.get(name) === env[name];

/** Set these variables, in place of those of the last call. */
export function setVariables(variables: Readonly<Record<string, string>>): void {
  for (const name of ours.keys()) {
    if (isOurs(name, process.env)) delete process.env[name];
    ours.delete(name);
  }
  for (const [name, value] of Object.entries(variables)) {
    if (process.env[name] !== undefined) continue;
    process.env[name] = value;
    ours.set(name, value);
  }
}

/** The environment without what came from an env file, so that an edited file is not hidden by its old self. */
export function foreignVariables(env: Variables): Variables {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isOurs(name, env)));
}
