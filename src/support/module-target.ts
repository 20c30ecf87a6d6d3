/** `path:export`: how the configuration names something that a module exports. */

export interface ModuleTarget {
  path: string;
  exportName?: string;
}

/** Split at the last colon that an export name follows; the colon of a Windows drive stays with the path. */
export function parseModuleTarget(text: string): ModuleTarget {
  const colon = text.lastIndexOf(":");
  const exportName = text.slice(colon + 1);
  const isDrive = colon === 1 && /^[a-z]$/i.test(text.slice(0, 1)) && /^([\\/]|$)/.test(exportName);
  if (colon <= 0 || isDrive || !/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(exportName))
    return { path: text };
  return { path: text.slice(0, colon), exportName };
}

/**
 * The module that a `checkpointer_scheme` names, as `./my-storage.ts:openStorage`, `my-package:openStorage` or
 * `@me/my-package`; undefined for one word, which is the name of a scheme, and for a connection string put there by
 * mistake.
 */
export function storageModule(scheme: string): ModuleTarget | undefined {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(scheme)) return undefined;
  const target = parseModuleTarget(scheme);
  const isModule = target.exportName !== undefined || /[\\/]/.test(target.path) || isModuleFile(target.path);
  return isModule ? target : undefined;
}

const isModuleFile = (path: string): boolean => /\.[cm]?[jt]sx?$/.test(path);
