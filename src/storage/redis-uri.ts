/** Whether `uri` names a Redis server. */
export const isRedisUri = (uri: string): boolean => /^rediss?:\/\//i.test(uri);

/** Where a connection string leads, without user and password; undefined when it is malformed. */
export function locationOf(uri: string): { location: string; host: string } | undefined {
  if (!URL.canParse(uri)) return undefined;
  const { protocol, hostname, port, pathname } = new URL(uri);
  if (hostname === "" || !/^\/?\d*$/.test(pathname)) return undefined;
  const host = `${hostname}:${port || "6379"}`;
  return { host, location: `${protocol}//${host}${pathname === "/" ? "" : pathname}` };
}
