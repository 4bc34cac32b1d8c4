import type { Environment } from "@tessera/kit/config";
import type { Finding } from "./finding.ts";

/** Passwords that examples, images and installers bring along, so they are guessed first. */
export const wellKnownSecrets: ReadonlySet<string> = new Set([
  ...["admin", "administrator", "change-me", "changeit", "changeme", "default", "example", "guest", "key", "kafka"],
  ...["minio", "minio123", "minioadmin", "operator", "operator-key", "pass", "passw0rd", "password", "postgres"],
  ...["redis", "root", "secret", "tessera", "test", "user", "123456", "12345678"],
]);

const mark = "[secret]";

/** Shorter ones would black out half of every sentence, and well-known ones are words of our own sentences. */
const shortest = 5;

/** Lists what must not be printed: the values of secret settings, and the passwords within URLs. */
export function secretsOf(environment: Environment, names: readonly string[]): string[] {
  const values = names.flatMap((name) => environment[name] ?? []);
  const passwords = Object.values(environment).flatMap((value) => passwordsIn(value ?? ""));
  return [...new Set([...values, ...passwords])]
    .filter((secret) => secret.length >= shortest && !wellKnownSecrets.has(secret))
    .sort((a, b) => b.length - a.length);
}

/** The password of a URL, as it is written there and as it is meant. */
export function passwordsIn(url: string): string[] {
  const found = [
    /^[a-z][a-z0-9+.-]*:\/\/[^/?#:@]*:([^/?#]*)@/i,
    // One that was not escaped extends to the last @.
    /^[a-z][a-z0-9+.-]*:\/\/[^/?#:@]*:(.*)@/i,
    /[?&]password=([^&#]*)/i,
  ].flatMap((pattern) => pattern.exec(url)?.[1] || []);
  return found.flatMap((text) => [decode(text), text]);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Marks every secret in a finding. Our sentences contain none, but messages of drivers are quoted. */
export function hideSecrets<F extends Finding>(finding: F, secrets: readonly string[]): F {
  const hide = (text: string | undefined) => secrets.reduce((clean, secret) => clean?.replaceAll(secret, mark), text);
  return { ...finding, what: hide(finding.what), why: hide(finding.why), mend: hide(finding.mend) };
}

/** Writes where a URL leads, without user and password: `db.example:5432/tessera`. */
export function endpointOf(url: string): string {
  if (!URL.canParse(url)) {
    // PostgreSQL accepts a socket's URL, which has no host before its path; others do not.
    const socket = /[?&]host=([^&#]*)/.exec(url)?.[1];
    return socket === undefined ? "an address that cannot be read" : `the socket in ${decode(socket)}`;
  }
  const { host, pathname, searchParams } = new URL(url);
  const socket = searchParams.get("host");
  return host === "" && socket !== null ? `the socket in ${socket}` : `${host}${pathname === "/" ? "" : pathname}`;
}
