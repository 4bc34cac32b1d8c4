import { hash, timingSafeEqual } from "node:crypto";
import type { Credential, CredentialKind } from "../store/credentials.ts";
import { inactive, type Presented, unknownToken } from "./authorization.ts";
import { type Caller, operator, type Tenant, toCaller } from "./caller.ts";
import { remember } from "./remember.ts";

/** The stored credentials and events. */
export interface AccessStore {
  findByHash(kind: CredentialKind, tokenHash: Buffer): Promise<Credential | undefined>;
  hasEvent(organizer: string, event: string): Promise<boolean>;
}

/** Finds callers by their tokens, and events. */
export interface Directory {
  /** Returns the caller that a token belongs to; throws for any other token. */
  authenticate(presented: Presented): Promise<Caller>;
  hasEvent(organizer: string, event: string): Promise<boolean>;
  /** Clears the cache after a change. */
  forget(): void;
}

/** A change reaches every process by notification; these bound what a lost notification costs. */
const limits = { max: 20_000, ttlMs: 30_000, maxMisses: 5000, missMs: 5000 };

interface Known {
  readonly tokenHash: Buffer;
  readonly active: boolean;
  readonly caller: Tenant;
}

/** Opens the directory over its store. */
export function openDirectory(store: AccessStore, { operatorKey }: { operatorKey: string | undefined }): Directory {
  const operatorHash = operatorKey === undefined ? undefined : hash("sha256", operatorKey, "buffer");
  const credentials = remember<Known>(async (key) => {
    const [kind, hex = ""] = key.split(" ");
    const credential = await store.findByHash(kind === "device" ? "device" : "api_key", Buffer.from(hex, "hex"));
    if (credential === undefined) return undefined;
    return { tokenHash: credential.tokenHash, active: credential.active, caller: toCaller(credential) };
  }, limits);
  const events = remember<{ readonly known: true }>(async (key) => {
    const [organizer = "", event = ""] = key.split("/");
    return (await store.hasEvent(organizer, event)) ? { known: true } : undefined;
  }, limits);

  return {
    async authenticate({ kind, token }) {
      const tokenHash = hash("sha256", token, "buffer");
      if (kind === "api_key" && operatorHash !== undefined && timingSafeEqual(tokenHash, operatorHash)) return operator;
      const known = await credentials.get(`${kind} ${tokenHash.toString("hex")}`);
      if (known === undefined || !timingSafeEqual(known.tokenHash, tokenHash)) throw unknownToken();
      if (!known.active) throw inactive(kind);
      return known.caller;
    },
    async hasEvent(organizer, event) {
      // Slugs contain no slash; one that does is unknown, and must not be read as two slugs.
      if (organizer.includes("/") || event.includes("/")) return false;
      return (await events.get(`${organizer}/${event}`)) !== undefined;
    },
    forget() {
      credentials.forget();
      events.forget();
    },
  };
}
