import type { IncomingHttpHeaders } from "node:http";
import type { Fault } from "@tessera/kit/fault";
import { fault } from "../faults.ts";
import type { CallerKind, CredentialKind } from "../store/credentials.ts";
import { readCookies, sessionCookie } from "./cookies.ts";

/** The contents of an Authorization header or a cookie, before any lookup. */
export interface Presented {
  readonly kind: CallerKind;
  /** The bytes as they were sent. */
  readonly token: Buffer;
}

const kinds: ReadonlyMap<string, CredentialKind> = new Map([
  ["token", "api_key"],
  ["device", "device"],
]);

const accepted = "the header must be `Authorization: Token <key>` or `Authorization: Device <key>`.";

/** Reads the credentials of a request. The cookie of a session counts only where there is no Authorization header. */
export function readCredentials({ authorization, cookie }: IncomingHttpHeaders): Presented {
  if (authorization !== undefined || cookie === undefined) return readAuthorization(authorization ?? "");
  const [token, ...more] = readCookies(cookie, sessionCookie);
  if (token === undefined) return readAuthorization("");
  // A page of another host may have set one of them, and nothing shows which.
  if (more.length > 0) throw fault("malformed_credentials", "The request has several cookies of sessions.");
  return { kind: "person", token: Buffer.from(token, "latin1") };
}

/** Reads an Authorization header: `Token` for API keys and the operator, `Device` for scanners. */
export function readAuthorization(header: string): Presented {
  // Only blanks and tabs separate; other white space belongs to the token.
  const [scheme = "", token, ...more] = header.split(/[ \t]+/).filter((part) => part !== "");
  const kind = kinds.get(scheme.toLowerCase());
  if (kind === undefined) throw fault("no_credentials", `This request needs credentials: ${accepted}`);
  if (token === undefined) throw fault("empty_credentials", `The Authorization header holds no key: ${accepted}`);
  if (more.length > 0)
    throw fault("malformed_credentials", `The key in the Authorization header must not contain spaces: ${accepted}`);
  // Node decodes headers as Latin-1, which keeps every byte.
  return { kind, token: Buffer.from(token, "latin1") };
}

export function unknownToken(kind: CallerKind): Fault {
  return kind === "person"
    ? fault("session_unknown", "You are not signed in, or no longer: sign in again.")
    : fault("unknown_token", "This token is not valid.");
}

export function sessionRevoked(): Fault {
  return fault("session_revoked", "This session was revoked: ask for another link, or sign in again.");
}

/** The fault of a session whose time is over, or that its person has ended. */
export function sessionEnded(): Fault {
  return fault("session_ended", "This session is over: sign in again.");
}

export function inactive(kind: CredentialKind): Fault {
  return kind === "device"
    ? // Scanners know exactly this sentence: they delete their data when they read it.
      fault("device_revoked", "Device access has been revoked.")
    : fault("key_inactive", "This API key has been switched off.");
}
