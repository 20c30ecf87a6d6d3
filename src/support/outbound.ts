/** POSTs to addresses that clients name: only public ones, checked after name resolution. */
import { lookup, type LookupAddress } from "node:dns";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import { ConfigError } from "./errors.js";

const LONGEST_URL = 2048;

export interface OutboundSettings {
  /** Hosts that may be called; all when left out. */
  hosts?: readonly string[];
  /** Addresses, or ranges of them, that may be called though they are not public. */
  allow_private?: readonly string[];
}

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Where requests may go. */
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
      return "is a path: give the whole URL, such as http://127.0.0.1:2024/hook, and allow its address by webhooks.allow_private";
    if (!URL.canParse(text)) return "is not a URL: use one such as https://example.com/hook";
    const url = new URL(text);
    if (url.protocol !== "https:" && url.protocol !== "http:")
      return `begins with ${url.protocol}: only https: and http: are called`;
    if (url.username || url.password)
      return "holds a password: leave it out, and verify the signature instead";
    const host = hostOf(url);
    if (!this.#isNamed(host))
      return `goes to ${JSON.stringify(host)}, which is not among the hosts of the setting webhooks`;
    return isIP(host) && !this.allows(host) ? notPublic(host) : undefined;
  }

  /** Whether an address may be connected to. */
  allows(address: string): boolean {
    if (!ipaddr.isValid(address)) return false;
    // An IPv4-mapped IPv6 address is judged as the IPv4 address.
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

/** Addresses that hold an IPv4 address in their last 32 bits; they are not in use. */
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
      hint: "write addresses or ranges, such as 127.0.0.1 or 10.0.0.0/8",
    });
  }
}

const notPublic = (address: string): string =>
  `goes to ${address}, which is not a public address: the setting webhooks.allow_private can allow it`;

/** The host without a dot at its end, or the brackets of an IPv6 address. */
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
  /** How names are resolved; as the system does when left out. */
  resolve?: Resolve;
}

/**
 * The status of the answer, of which no more is read; a redirect is not followed. What is connected to is what was
 * checked: a name is resolved once.
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

/** Returns only addresses that are allowed. */
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
