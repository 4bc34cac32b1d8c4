import type { Environment } from "@tessera/kit/config/config";
import type { Finding } from "@tessera/kit/service/finding";

/** Default passwords of images and examples. They are words of our own messages, which hiding them would garble. */
const wellKnownSecrets: ReadonlySet<string> = new Set([
  ...["admin", "administrator", "change-me", "changeit", "changeme", "default", "example", "guest", "key", "kafka"],
  ...["minio", "minio123", "minioadmin", "operator", "operator-key", "pass", "passw0rd", "password", "postgres"],
  ...["redis", "root", "secret", "tessera", "test", "user", "123456", "12345678"],
]);

/** A shorter one is part of many words. */
const shortest = 5;

/** Lists what must not be printed: the values of secret settings, and the passwords within URLs. */
export function secretsOf(environment: Environment, names: readonly string[]): string[] {
  const values = names.flatMap((name) => environment[name] ?? []);
  const passwords = Object.values(environment).flatMap((value) => passwordsIn(value ?? ""));
  return [...new Set([...values, ...passwords])]
    .filter((secret) => secret.length >= shortest && !wellKnownSecrets.has(secret))
    .sort((a, b) => b.length - a.length);
}

/** The password of a URL, as written and decoded. */
export function passwordsIn(url: string): string[] {
  const found = [
    /^[a-z][a-z0-9+.-]*:\/\/[^/?#:@]*:([^/?#]*)@/i,
    // A password that is not escaped extends to the last @.
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

/** Replaces every secret in a finding with a mark. Our sentences contain none, but they quote messages of drivers. */
export function hideSecrets<F extends Finding>(finding: F, secrets: readonly string[]): F {
  const hide = (text: string | undefined) =>
    secrets.reduce((clean, secret) => clean?.replaceAll(secret, "[secret]"), text);
  return { ...finding, what: hide(finding.what), why: hide(finding.why), mend: hide(finding.mend) };
}

/** Returns the host, port and path of a URL, without user and password: `db.example:5432/tessera`. */
export function endpointOf(url: string): string {
  const parsed = URL.parse(url);
  // Only PostgreSQL accepts the URL of a socket, which has no host before its path.
  const socket = parsed?.searchParams.get("host") ?? decode(/[?&]host=([^&#]*)/.exec(url)?.[1] ?? "");
  if (parsed?.host) return `${parsed.host}${parsed.pathname === "/" ? "" : parsed.pathname}`;
  return socket === "" ? "an address that cannot be read" : `the socket in ${socket}`;
}
