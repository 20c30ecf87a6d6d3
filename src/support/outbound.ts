/** POST requests to URLs that clients provide: only public addresses, checked after name resolution. */
import { lookup, type LookupAddress } from "node:dns";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import { ConfigError } from "./errors.js";

const LONGEST_URL = 2048;

export interface OutboundSettings {
  hosts?: readonly string[];
  /** Allowed addresses or ranges that are not public. */
  allow_private?: readonly string[];
}

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Decides which hosts and addresses requests can be sent to. */
export class OutboundPolicy {
  readonly #hosts: readonly string[] | undefined;
  readonly #privates: readonly Range[];

  /** @throws ConfigError (`config_invalid`) */
  constructor({ hosts, allow_private = [] }: OutboundSettings) {
    this.#hosts = hosts?.map((host) => host.toLowerCase());
    this.#privates = allow_private.map(rangeOf);
  }

  /** Why a URL can never be called; undefined if that depends on the address it resolves to. */
  faultOf(text: string): string | undefined {
    if (text.length > LONGEST_URL) return `is longer than ${LONGEST_URL} characters`;
    if (text.startsWith("/"))
      return "is a path: use the full URL, such as http://127.0.0.1:2024/hook, and allow its address in webhooks.allow_private";
    if (!URL.canParse(text)) return "is not a URL: use one such as https://example.com/hook";
    const url = new URL(text);
    if (url.protocol !== "https:" && url.protocol !== "http:")
      return `starts with ${url.protocol}: only https: and http: are supported`;
    if (url.username || url.password)
      return "contains credentials: remove them, and verify the signature instead";
    const host = hostOf(url);
    if (!this.#isNamed(host))
      return `points to ${JSON.stringify(host)}, which is not in the setting webhooks.hosts`;
    return isIP(host) && !this.allows(host) ? notPublic(host) : undefined;
  }

  allows(address: string): boolean {
    if (!ipaddr.isValid(address)) return false;
    // An IPv4-mapped IPv6 address is treated as the IPv4 address.
    const ip = ipaddr.process(address);
    if (ip.kind() === "ipv6" && isIn(ip, IPV4_COMPATIBLE)) return false;
    return ip.range() === "unicast" || this.#privates.some((range) => isIn(ip, range));
  }

  #isNamed(host: string): boolean {
    const fits = (name: string) =>
      name.startsWith("*.") ? host.endsWith(name.slice(1)) && host !== name.slice(2) : name === host;
    return this.#hosts?.some(fits) ?? true;
  }
}

/** Addresses that contain an IPv4 address in their last 32 bits; deprecated. */
const IPV4_COMPATIBLE: Range = [ipaddr.parse("::"), 96];

const isIn = (ip: Range[0], [base, bits]: Range): boolean =>
  ip.kind() === base.kind() && (ip as ipaddr.IPv4).match(base, bits);

function rangeOf(text: string): Range {
  try {
    if (text.includes("/")) return ipaddr.parseCIDR(text);
    const ip = ipaddr.process(text);
    return [ip, ip.kind() === "ipv4" ? 32 : 128];
  } catch {
    throw new ConfigError(`webhooks.allow_private: ${JSON.stringify(text)} is not an address`, {
      hint: "use addresses or ranges, such as 127.0.0.1 or 10.0.0.0/8",
    });
  }
}

const notPublic = (address: string): string =>
  `points to ${address}, which is not a public address: allow it in the setting webhooks.allow_private`;

/** Host name without a trailing dot, or IPv6 address without brackets. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");

type Resolve = (
  host: string,
  options: { all: true },
  done: (error: Error | null, found: LookupAddress[]) => void,
) => void;

export interface Posting {
  headers: Record<string, string>;
  body: string;
  reach: OutboundPolicy;
  signal: AbortSignal;
  /** Resolves names; the system resolver by default. */
  resolve?: Resolve;
}

/**
 * Sends a POST request and returns the response status. The body is not read and redirects are not
 * followed.
 * The connection uses the checked address: a name is resolved once.
 */
export function post(
  target: string,
  { headers, body, reach, signal, resolve = lookup }: Posting,
): Promise<number> {
  const url = new URL(target);
  const fault = reach.faultOf(target);
  if (fault !== undefined) return Promise.reject(new Error(`the URL ${fault}`));
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  const options = { method: "POST", headers, signal, agent: false, lookup: guarded(reach, resolve) };
  return new Promise((answered, failed) => {
    const request = send(url, options, (response) => {
      answered(response.statusCode ?? 0);
      response.on("error", () => undefined).destroy();
    });
    request.on("error", failed);
    request.end(body);
  });
}

const guarded =
  (reach: OutboundPolicy, resolve: Resolve): LookupFunction =>
  (host, options, done) =>
    resolve(host, { ...options, all: true }, (error, found) => {
      if (error) return done(error, []);
      const [first, ...others] = found.filter(({ address }) => reach.allows(address));
      if (!first) return done(new Error(`the URL ${notPublic(found[0]?.address ?? host)}`), []);
      if (options.all) done(null, [first, ...others]);
      else done(null, first.address, first.family);
    });
