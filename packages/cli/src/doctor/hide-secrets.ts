import type { Environment } from "@tessera/kit/config";
import type { Finding } from "./finding.ts";
import { wellKnownSecrets } from "./well-known-secrets.ts";

const mark = "[secret]";

/** Shorter ones would black out half of every sentence, as would those that are words of ours. */
const shortest = 5;

/** Lists what must not be printed: the values of secret settings, and the passwords within URLs. */
export function secretsOf(environment: Environment, names: readonly string[]): string[] {
  const values = names.flatMap((name) => environment[name] ?? []);
  const passwords = Object.values(environment).flatMap((value) => passwordsIn(value ?? ""));
  return [...new Set([...values, ...passwords])]
    .filter((secret) => secret.length >= shortest && !wellKnownSecrets.has(secret))
    .sort((a, b) => b.length - a.length);
}

/** The password of a URL, as it stands there and as it is meant. */
export function passwordsIn(url: string): string[] {
  const [, raw] = /^[a-z][a-z0-9+.-]*:\/\/[^/?#:@]*:([^/?#]*)@/i.exec(url) ?? [];
  // One that was not escaped goes on to the last @ there is.
  const [, unescaped] = /^[a-z][a-z0-9+.-]*:\/\/[^/?#:@]*:(.*)@/i.exec(url) ?? [];
  const [, parameter] = /[?&]password=([^&#]*)/i.exec(url) ?? [];
  return [raw, unescaped, parameter].flatMap((text) => (text === undefined || text === "" ? [] : [decode(text), text]));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Marks every secret in what a finding says; findings are written without any, but drivers' messages are not ours. */
export function hideSecrets<F extends Finding>(finding: F, secrets: readonly string[]): F {
  const hide = (text: string) => secrets.reduce((clean, secret) => clean.replaceAll(secret, mark), text);
  return {
    ...finding,
    what: hide(finding.what),
    ...(finding.why === undefined ? {} : { why: hide(finding.why) }),
    ...(finding.mend === undefined ? {} : { mend: hide(finding.mend) }),
  };
}

/** Says where a URL leads, without who comes: `db.example:5432/tessera`. */
export function placeOf(url: string): string {
  if (!URL.canParse(url)) {
    // A socket's URL has no host before its path, which is no URL to others than PostgreSQL.
    const socket = /[?&]host=([^&#]*)/.exec(url)?.[1];
    return socket === undefined ? "an address that cannot be read" : `the socket in ${decode(socket)}`;
  }
  const { host, pathname, searchParams } = new URL(url);
  const socket = searchParams.get("host");
  return host === "" && socket !== null ? `the socket in ${socket}` : `${host}${pathname === "/" ? "" : pathname}`;
}
