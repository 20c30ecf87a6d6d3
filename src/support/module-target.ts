/** `path:export`: how the configuration names an export of a module. */

export interface ModuleTarget {
  path: string;
  exportName?: string;
}

/**
 * Splits at the last colon that is followed by an export name; the colon of a Windows drive stays
 * with the path.
 */
export function parseModuleTarget(text: string): ModuleTarget {
  const colon = text.lastIndexOf(":");
  const exportName = text.slice(colon + 1);
  const isDrive = colon === 1 && /^[a-z]$/i.test(text.slice(0, 1)) && /^([\\/]|$)/.test(exportName);
  if (colon <= 0 || isDrive || !/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(exportName))
    return { path: text };
  return { path: text.slice(0, colon), exportName };
}

/**
 * The module of a `checkpointer_scheme`, such as `./my-storage.ts:openStorage`,
 * `my-package:openStorage` or `@me/my-package`. Undefined for a single word, which is a scheme, and
 * for a connection string put there by mistake.
 */
export function storageModule(scheme: string): ModuleTarget | undefined {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(scheme)) return undefined;
  const target = parseModuleTarget(scheme);
  const isModule = target.exportName !== undefined || /[\\/]/.test(target.path) || isModuleFile(target.path);
  return isModule ? target : undefined;
}

const isModuleFile = (path: string): boolean => /\.[cm]?[jt]sx?$/.test(path);
