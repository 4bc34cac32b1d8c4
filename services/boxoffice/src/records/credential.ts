import { createHash } from "node:crypto";
import type { Tx } from "@tessera/kit/pg/database";
import type { CredentialFields } from "@tessera/protos/gen/ticketing/boxoffice/v1/credentials";
import type { CredentialChanged, CredentialKind as Published } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { topics } from "@tessera/protos/topics";
import type { Scope } from "@tessera/records/kind";
import type { Reading, Rule } from "@tessera/records/read";
import { notKnown, ofElement, refuseEach } from "@tessera/records/validate";
import type { Checked } from "@tessera/schema/schema";
import type { Known } from "../domain/known.ts";
import * as credentials from "../store/credential-rows.ts";
import { credentialFact, credentialKey, publishedKinds } from "../wire/credential-messages.ts";
import type { RecordKind } from "./kind.ts";
import type { BroughtHere } from "./recall.ts";

/** A credential without its token. */
export interface CredentialRecord<D extends credentials.StoredFields = credentials.StoredFields> extends Reading<D> {
  readonly id: string;
  /** Null: no token authenticates it. */
  readonly tokenHash: Buffer | null;
}

/** The differences between the kinds of credentials. */
interface Traits<D extends credentials.StoredFields>
  extends Pick<RecordKind<CredentialRecord<D>>, "schema" | "readKey"> {
  readonly name: credentials.CredentialKind;
  /** Its name in messages. */
  readonly noun: string;
  /** The code of the fault if it does not exist. */
  readonly absent: "api_key_not_found" | "device_not_found";
  /** Reads all its data; the document does not hold the token. */
  readAll(data: unknown): Checked<Reading<D & { readonly token: string | null }>>;
  /** Reads all its data but the token. */
  readFields(data: unknown): Checked<Reading<D>>;
  idOf(data: D, tokenHash: Buffer | null): string;
  /** For kinds with numeric ids: the field of the number, and new numbers. */
  readonly numbered?: {
    readonly field: string;
    readonly draw: (tx: Tx, organizer: string) => Promise<number>;
  };
  /** For kinds with ids too long to type: the prefixes of ids that find it. */
  readonly idPrefix?: RegExp;
  toMessage(data: D): CredentialFields;
  /** The data of the record with these fields, without its number; undefined for fields of the other kind. */
  toData(message: CredentialFields): Readonly<Record<string, unknown>> | undefined;
  isActive(data: D): boolean;
  /** The changes of its data when it is revoked. */
  readonly revoked: Partial<D>;
  /** The fields of its facts that the other kind does not have. */
  ownPartOf(data: D, gates: Gates): Pick<CredentialChanged, "permissions" | "device">;
}

/** Names of gates by id: at least those of these devices. */
type Gates = ReadonlyMap<number, string>;

/** A kind of credential: how records and requests make one. */
export interface CredentialKind<D extends credentials.StoredFields = credentials.StoredFields>
  extends RecordKind<CredentialRecord<D>>,
    Omit<Traits<D>, "name" | "readKey" | "schema"> {
  readonly name: credentials.CredentialKind;
  readonly published: Published;
  /** Makes the record of a credential from the hash of its token; null: it has no token. */
  recordOf(tokenHash: Buffer | null, reading: Reading<D>): CredentialRecord<D>;
  factOf(
    credential: credentials.StoredCredential<D> & { readonly organizer: string; readonly gates: Gates },
  ): CredentialChanged;
}

/** Shorter tokens could be guessed, and other characters not be sent in a header. */
const token = /^[!-~]{16,}$/;

/** The rule for tokens in records. A record that removes its credential may name any. */
export const tokenRule: Rule = (value) =>
  typeof value === "string" && !token.test(value)
    ? "A token has at least 16 characters, all of them ASCII and none of them blank."
    : undefined;

export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** The hash of its token; empty: it has none. */
function hexOf({ tokenHash }: CredentialRecord): string {
  return tokenHash?.toString("hex") ?? "";
}

export function credentialKind<D extends credentials.StoredFields>(traits: Traits<D>): CredentialKind<D> {
  const { name: kind, numbered } = traits;

  const recordOf = (tokenHash: Buffer | null, { data, document }: Reading<D>): CredentialRecord<D> => ({
    id: traits.idOf(data, tokenHash),
    tokenHash,
    data,
    document,
  });

  const factOf: CredentialKind<D>["factOf"] = ({ gates, ...credential }) => {
    const { data } = credential;
    return credentialFact({
      ...credential,
      kind,
      active: traits.isActive(data),
      ownPart: traits.ownPartOf(data, gates),
    });
  };

  /** A token belongs to one credential of all organizers. */
  const nameOf = ({ id }: CredentialRecord, { organizer }: Scope) => `${organizer}/${kind}/${id}`;

  /** The tokens of other credentials, without those that these credentials give up. */
  const keptTokens = (left: readonly CredentialRecord[], { scope, known }: { scope: Scope; known: Known }) => {
    const sent = new Map(left.map((value) => [nameOf(value, scope), hexOf(value)]));
    return new Map([...known.tokens].filter(([token, owner]) => (sent.get(owner) ?? token) === token));
  };

  return {
    ...traits,
    published: publishedKinds[kind],
    recordOf,
    factOf,
    read(sent) {
      const checked = traits.readAll(sent);
      if (!checked.ok) return checked;
      const { token, ...data } = checked.value.data;
      const tokenHash = token === null ? null : hashToken(token);
      // The compiler does not see that the rest is D.
      return { ok: true, value: recordOf(tokenHash, { ...checked.value, data: data as unknown as D }) };
    },
    keyOf: ({ id }) => id,
    mention({ tokenHash, data }, mentioned) {
      if (tokenHash !== null) mentioned.tokens.add(tokenHash.toString("hex"));
      if (typeof data.gate === "number") mentioned.gates.add(data.gate);
      for (const event of data.events) mentioned.events.add(event);
    },
    async refuse(tx, { scope, values, known }) {
      const owners = keptTokens(values, { scope, known });
      const ids = numbered === undefined ? [] : values.map(({ id }) => id);
      const madeHere = ids.length === 0 ? new Set() : await credentials.findMadeHere(tx, { ...scope, ids });
      return refuseEach(
        values,
        (value, addError) => {
          const { data } = value;
          const owner = owners.get(hexOf(value)) ?? nameOf(value, scope);
          if (numbered !== undefined && madeHere.has(value.id))
            addError(
              numbered.field,
              `Device ${value.id} was made here, and no record may replace it: take another number.`,
            );
          if (owner !== nameOf(value, scope)) addError("token", "This token belongs to another key or device.");
          if (typeof data.gate === "number" && !known.gates.has(data.gate))
            addError("gate", notKnown(`gate ${data.gate}`));
          for (const [index, event] of data.events.entries()) {
            if (!known.events.has(event)) addError(`events.${index}`, ofElement(index, notKnown("event")));
          }
        },
        (value) => {
          if (value.tokenHash !== null && !owners.has(hexOf(value))) owners.set(hexOf(value), nameOf(value, scope));
        },
      );
    },
    // A token is compared with all others.
    bring: (value): BroughtHere<"api_key" | "device"> => ({
      names: ["api_key", "device"],
      data: { token: hexOf(value) },
    }),
    async store(tx, { scope, values, known }) {
      const { organizer } = scope;
      const owners = new Set(values.map((value) => known.tokens.get(hexOf(value))));
      const isGiver = (value: CredentialRecord) => {
        const name = nameOf(value, scope);
        return owners.has(name) && known.tokens.get(hexOf(value)) !== name;
      };
      const ids = values.filter(isGiver).map(({ id }) => id);
      await credentials.freeTokens(tx, { organizer, kind, ids });
      const stored = await credentials.upsert<D>(tx, { organizer, kind, rows: values });
      const byId = new Map(stored.map((credential) => [credential.id, credential]));
      const changed = values.flatMap(({ id }) => byId.get(id) ?? []);
      await tx.publish(
        topics.credentialChanged,
        changed.map((credential) => factOf({ organizer, ...credential, gates: known.gates })),
      );
    },
    async remove(tx, { scope: { organizer }, keys }) {
      const removed = await credentials.deleteCredentials(tx, { organizer, kind, ids: keys });
      await tx.retract(
        topics.credentialChanged,
        removed.map((id) => credentialKey(organizer, kind, id)),
      );
    },
  };
}
