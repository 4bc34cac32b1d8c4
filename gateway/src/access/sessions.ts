import { hash, randomUUID } from "node:crypto";
import { type AskedPage, cutPage } from "@tessera/kit/lists/cut-page";
import type { Db } from "@tessera/kit/pg/database";
import type { Reads } from "@tessera/kit/pg/reads";
import {
  countSessions,
  findLink,
  findSession,
  type Grant,
  insertLink,
  insertSession,
  leaveSession,
  pageSessions,
  redeemLink,
  revokeSession,
  type Session,
} from "../store/session-rows.ts";
import { waitForDatabase } from "../store/wait-for-database.ts";
import { announceChange } from "./change-notice.ts";
import { deriveToken, makeToken } from "./make-token.ts";
import { remember } from "./remember.ts";

export interface Begun {
  readonly session: Session;
  /** What its cookie holds; only its hash is stored. */
  readonly token: string;
}

export type Redeemed =
  | ({ readonly kind: "begun" } & Begun)
  /** The link was used, has expired, or was revoked. */
  | { readonly kind: "refused"; readonly link: Session }
  | { readonly kind: "unknown" };

interface SessionKey {
  readonly organizer: string;
  readonly id: string;
}

export interface Sessions {
  /** Stores a link of this token; a repeated request gets the same one. */
  createLink(token: string, link: Grant & { readonly linkSeconds: number; readonly seconds: number }): Promise<Session>;
  /** Makes a session of a link, once. With `opening`, a random value of the page, the same request again has the same session. */
  redeem(token: string, opening?: string): Promise<Redeemed>;
  begin(grant: Grant, options: { readonly seconds: number }): Promise<Begun>;
  leave(key: SessionKey): Promise<void>;
  /** False: the organizer has no such link or session. */
  revoke(key: SessionKey): Promise<boolean>;
  page(
    organizer: string,
    asked: AskedPage,
  ): Promise<{ readonly results: readonly Session[]; readonly count: number; readonly page: number }>;
}

export interface SessionStores {
  readonly db: Db;
  readonly reads: Reads;
  readonly directory: { forget(): void };
}

/** A link that is over stays so; of one that is open the update decides, whatever is remembered. */
const limits = { max: 1000, ttlMs: 5000, maxMisses: 5000, missMs: 5000 };

const hashOf = (token: string) => hash("sha256", token, "buffer");

export function openSessions({ db, reads, directory }: SessionStores): Sessions {
  // As for tokens: connections of their own, with a fair share for each token.
  const links = remember<Session>(
    (hex) => waitForDatabase(reads.inTurn(hex, (on) => findLink(on, Buffer.from(hex, "hex")))),
    limits,
  );

  async function redeemOpen(linkHash: Buffer, token: string): Promise<Begun | undefined> {
    const session = await waitForDatabase(redeemLink(db, { linkHash, tokenHash: hashOf(token) }));
    return session && { session, token };
  }

  /** The session that this opening of a link has begun: its answer was lost. */
  async function findBegun(token: string, { link }: { readonly link: string }): Promise<Begun | undefined> {
    const session = await waitForDatabase(reads.inTurn(link, (on) => findSession(on, hashOf(token))));
    return session?.state === "in use" ? { session, token } : undefined;
  }

  /** Ends sessions, and has every gateway forget them. */
  async function end<T>(
    key: SessionKey,
    change: (on: Parameters<typeof announceChange>[0], of: SessionKey) => Promise<T>,
  ) {
    const ended = db.transaction(async (tx) => {
      const result = await change(tx, key);
      await announceChange(tx);
      return result;
    });
    const result = await waitForDatabase(ended);
    // This process need not wait for its own notification.
    directory.forget();
    return result;
  }

  return {
    createLink: (token, link) =>
      waitForDatabase(insertLink(db, { ...link, id: randomUUID(), linkHash: hashOf(token) })),
    async redeem(link, opening) {
      const linkHash = hashOf(link);
      const name = linkHash.toString("hex");
      let known = await links.get(name);
      if (known === undefined) return { kind: "unknown" };
      const token = opening === undefined ? makeToken() : deriveToken(link, opening);
      if (known.state === "open") {
        const begun = await redeemOpen(linkHash, token);
        links.forget();
        if (begun !== undefined) return { kind: "begun", ...begun };
        known = await links.get(name);
        if (known === undefined) return { kind: "unknown" };
      }
      const earlier = opening === undefined ? undefined : await findBegun(token, { link: name });
      return earlier === undefined ? { kind: "refused", link: known } : { kind: "begun", ...earlier };
    },
    async begin(grant, { seconds }) {
      const token = makeToken();
      const stored = insertSession(db, { ...grant, id: randomUUID(), tokenHash: hashOf(token), seconds });
      return { session: await waitForDatabase(stored), token };
    },
    leave: (key) => end(key, leaveSession),
    revoke: (key) => end(key, revokeSession),
    page: (organizer, asked) =>
      reads.inTurn(organizer, async (on) => {
        const count = await countSessions(on, organizer);
        const { page, limit, offset } = cutPage(asked, count);
        return { results: await pageSessions(on, { organizer, limit, offset }), count, page };
      }),
  };
}
