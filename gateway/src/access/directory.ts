import { hash } from "node:crypto";
import type { Fault } from "@tessera/kit/fault";
import type { CallerKind, Credential, CredentialKind } from "../store/credentials.ts";
import type { Session } from "../store/session-rows.ts";
import { inactive, type Presented, sessionEnded, sessionRevoked, unknownToken } from "./authorization.ts";
import { type Caller, operator, type Tenant, toCaller, toPerson } from "./caller.ts";
import { remember } from "./remember.ts";

export interface AccessStore {
  findByHash(kind: CredentialKind, tokenHash: Buffer): Promise<Credential | undefined>;
  findSession(tokenHash: Buffer): Promise<Session | undefined>;
  hasEvent(organizer: string, event: string): Promise<boolean>;
}

/** Finds callers by their tokens, and events. Cached results are returned synchronously. */
export interface Directory {
  /** Returns the caller that a token belongs to; throws for an unknown token. */
  authenticate(presented: Presented): Caller | Promise<Caller>;
  hasEvent(organizer: string, event: string): boolean | Promise<boolean>;
  isOperatorKey(token: string): boolean;
  /** Clears the cache after a change. */
  forget(): void;
}

/** Notifications invalidate the cache; these limits bound the cost of a lost notification. */
const limits = { max: 20_000, ttlMs: 30_000, maxMisses: 5000, missMs: 5000 };

interface Known {
  readonly caller: Tenant;
  /** Why it is refused; undefined: it is not. */
  readonly refuse: (() => Fault) | undefined;
  /** When a session ends, by `performance.now()`, because the machine's clock may be set. */
  readonly until: number;
}

export function openDirectory(store: AccessStore, { operatorKey }: { operatorKey: string | undefined }): Directory {
  const nameOfOperator = operatorKey === undefined ? undefined : nameOf("api_key", operatorKey);
  const credentials = remember<Known>(async (name) => {
    const [kind, hex = ""] = name.split(" ");
    const tokenHash = Buffer.from(hex, "hex");
    if (kind === "person") return knownSession(await store.findSession(tokenHash));
    return knownCredential(await store.findByHash(kind === "device" ? "device" : "api_key", tokenHash));
  }, limits);
  const events = remember<{ readonly known: true }>(async (key) => {
    const [organizer = "", event = ""] = key.split("/");
    return (await store.hasEvent(organizer, event)) ? { known: true } : undefined;
  }, limits);

  return {
    authenticate({ kind, token }) {
      const name = nameOf(kind, token);
      if (name === nameOfOperator) return operator;
      const known = credentials.get(name);
      return known instanceof Promise ? known.then((later) => callerOf(later, kind)) : callerOf(known, kind);
    },
    hasEvent(organizer, event) {
      // Slugs contain no slash; a name with a slash must not be read as two slugs.
      if (organizer.includes("/") || event.includes("/")) return false;
      const known = events.get(`${organizer}/${event}`);
      return known instanceof Promise ? known.then((later) => later !== undefined) : known !== undefined;
    },
    isOperatorKey: (token) => nameOf("api_key", token) === nameOfOperator,
    forget() {
      credentials.forget();
      events.forget();
    },
  };
}

/** The cache key of a credential, without its token. Hashed, so that the time of a comparison reveals nothing. */
function nameOf(kind: CallerKind, token: string | Buffer): string {
  return `${kind} ${hash("sha256", token, "hex")}`;
}

function knownCredential(credential: Credential | undefined): Known | undefined {
  if (credential === undefined) return undefined;
  const { active, kind } = credential;
  return { caller: toCaller(credential), refuse: active ? undefined : () => inactive(kind), until: Infinity };
}

function knownSession(session: Session | undefined): Known | undefined {
  if (session === undefined) return undefined;
  const refusals = { revoked: sessionRevoked, ended: sessionEnded } as const;
  const refuse = session.state === "revoked" || session.state === "ended" ? refusals[session.state] : undefined;
  return { caller: toPerson(session), refuse, until: performance.now() + session.endsInMs };
}

function callerOf(known: Known | undefined, kind: CallerKind): Caller {
  if (known === undefined) throw unknownToken(kind);
  if (known.refuse !== undefined) throw known.refuse();
  if (known.until <= performance.now()) throw sessionEnded();
  return known.caller;
}
