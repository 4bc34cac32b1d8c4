import { readCookies, writeCookie } from "../../access/cookies.ts";
import type { Attempt } from "../../access/identity-provider.ts";

/** What a browser keeps while its person is at the provider, so that any gateway can end what another has begun. */
export interface SignInAttempt extends Attempt {
  /** The organizer that was asked for; empty: none. */
  readonly organizer: string;
}

const name = "tessera_sign_in";

/** A person may have to find a password first. */
const seconds = 900;

/** The cookie comes back from the page of another host: `Lax`. What is in it serves this one browser alone. */
export function writeAttempt({ state, nonce, verifier, organizer }: SignInAttempt, base: string): string {
  const text = JSON.stringify([state, nonce, verifier, organizer]);
  const options = { base, path: "/api/v1/session/oidc/", seconds, sameSite: "Lax" } as const;
  return writeCookie(name, Buffer.from(text).toString("base64url"), options);
}

/** Reads the attempt from the cookies of a request; undefined: it is missing or broken. */
export function readAttempt(cookies: string): SignInAttempt | undefined {
  const [value = ""] = readCookies(cookies, name);
  const parts = parse(Buffer.from(value, "base64url").toString());
  if (!Array.isArray(parts) || !parts.every((part) => typeof part === "string")) return undefined;
  const [state = "", nonce = "", verifier = "", organizer = ""] = parts;
  return [state, nonce, verifier].includes("") ? undefined : { state, nonce, verifier, organizer };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
