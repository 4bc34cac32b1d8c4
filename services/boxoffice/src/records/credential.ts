import { createHash } from "node:crypto";
import type { CredentialFields } from "@tessera/protos/gen/ticketing/boxoffice/v1/credentials";
import { type CredentialChanged, CredentialKind as Published } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { topics } from "@tessera/protos/topics";
import type { Reading } from "@tessera/records/read";
import { notKnown, ofElement, refuseEach } from "@tessera/records/validate";
import type { Checked } from "@tessera/schema/schema";
import * as credentials from "../store/credentials.ts";
import type { IdSequence } from "../store/id-sequences.ts";
import type { RecordKind } from "./kind.ts";

/** What is stored of a credential of either kind. */
export interface StoredFields {
  readonly name: string;
  readonly all_events: boolean;
  readonly events: readonly string[];
  /** Of a device. */
  readonly gate?: number | null;
}

/** A credential without its clear token. */
export interface CredentialRecord<D extends StoredFields = StoredFields> extends Reading<D> {
  readonly id: string;
  /** Null: nothing authenticates as it. */
  readonly tokenHash: Buffer | null;
}

/** Everything in which one kind of credential differs from the other. */
interface Traits<D extends StoredFields> extends Pick<RecordKind<CredentialRecord<D>>, "schema" | "readKey"> {
  readonly name: credentials.CredentialKind;
  /** What it is called in messages, without and with its article. */
  readonly noun: string;
  readonly aNoun: string;
  /** The fault where there is none. */
  readonly absent: "api_key_not_found" | "device_not_found";
  /** Reads all its data; the document does not hold the token. */
  readAll(data: unknown): Checked<Reading<D & { readonly token: string | null }>>;
  /** Reads all its data but the token. */
  readFields(data: unknown): Checked<Reading<D>>;
  idOf(data: D, tokenHash: Buffer | null): string;
  /** The field for its number, and the sequence that new numbers come from, where its id is a number. */
  readonly numbered?: { readonly field: string; readonly by: IdSequence };
  /** The parts of an id that find it, where its whole id is too long for a person. */
  readonly idPrefix?: RegExp;
  toMessage(data: D): CredentialFields;
  /** The data of a record that says the same, without its number; undefined where it is of another kind. */
  toData(message: CredentialFields): Readonly<Record<string, unknown>> | undefined;
  isActive(data: D): boolean;
  /** What is different in its data once it is revoked. */
  readonly revoked: Partial<D>;
  /** What facts hold of it beside what every credential has. */
  ownPartOf(data: D, gates: Gates): Pick<CredentialChanged, "permissions" | "device">;
}

/** Names of gates by id, at least of those that are mentioned. */
type Gates = ReadonlyMap<number, string>;

/** A kind of credential: how it is imported, and how the operator's own ones are made. */
export interface CredentialKind<D extends StoredFields = StoredFields>
  extends RecordKind<CredentialRecord<D>>,
    Omit<Traits<D>, "name" | "readKey" | "schema"> {
  readonly name: credentials.CredentialKind;
  readonly published: Published;
  /** Makes the record of a credential when only the hash of its token is known; null for one without. */
  recordOf(tokenHash: Buffer | null, reading: Reading<D>): CredentialRecord<D>;
  /** What every service may know of it. */
  factOf(
    credential: credentials.StoredCredential<D> & { readonly organizer: string; readonly gates: Gates },
  ): CredentialChanged;
}

const published = { api_key: Published.API_KEY, device: Published.DEVICE } as const;

/** The key of a credential's facts. */
export function credentialKey(organizer: string, kind: credentials.CredentialKind, id: string): string {
  const nothing = { revision: 0, name: "", permissions: [], allEvents: false, events: [], active: false };
  return topics.credentialChanged.key({ organizer, kind: published[kind], id, ...nothing });
}

/** Hashes a token; nothing else of it is stored. */
export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** Declares a kind of credential. */
export function credentialKind<D extends StoredFields>(traits: Traits<D>): CredentialKind<D> {
  const { name: kind, numbered } = traits;

  const recordOf = (tokenHash: Buffer | null, { data, document }: Reading<D>): CredentialRecord<D> => ({
    id: traits.idOf(data, tokenHash),
    tokenHash,
    data,
    document,
  });

  const factOf: CredentialKind<D>["factOf"] = ({ organizer, id, revision, tokenHash, data, gates }) => ({
    organizer,
    kind: published[kind],
    id,
    revision,
    tokenHash: tokenHash ?? undefined,
    name: data.name,
    allEvents: data.all_events,
    events: [...data.events],
    active: traits.isActive(data),
    ...traits.ownPartOf(data, gates),
  });

  return {
    ...traits,
    published: published[kind],
    recordOf,
    factOf,
    read(sent) {
      const checked = traits.readAll(sent);
      if (!checked.ok) return checked;
      const { token, ...data } = checked.value.data;
      const tokenHash = token === null ? null : hashToken(token);
      // The compiler does not see that what is left is D again.
      return { ok: true, value: recordOf(tokenHash, { ...checked.value, data: data as unknown as D }) };
    },
    keyOf: ({ id }) => id,
    ...(numbered === undefined ? {} : { idsOf: ({ id }) => [[numbered.by, Number(id)]] }),
    mention({ tokenHash, data }, mentioned) {
      if (tokenHash !== null) mentioned.tokens.add(tokenHash.toString("hex"));
      if (typeof data.gate === "number") mentioned.gates.add(data.gate);
      for (const event of data.events) mentioned.events.add(event);
    },
    async refuse(_tx, { scope, values, known }) {
      // A token leads to one credential, whatever organizers there are.
      const owners = new Map(known.tokens);
      const ownerOf = ({ id }: CredentialRecord) => `${scope.organizer}/${kind}/${id}`;
      return refuseEach(
        values,
        (value, addError) => {
          const { tokenHash, data } = value;
          const owner = owners.get(tokenHash?.toString("hex") ?? "") ?? ownerOf(value);
          if (owner !== ownerOf(value)) addError("token", "this token belongs to another key or device");
          if (typeof data.gate === "number" && !known.gates.has(data.gate))
            addError("gate", notKnown(`gate ${data.gate}`));
          for (const [index, event] of data.events.entries()) {
            if (!known.events.has(event)) addError("events", ofElement(index, notKnown("event")));
          }
        },
        (value) => {
          if (value.tokenHash !== null) owners.set(value.tokenHash.toString("hex"), ownerOf(value));
        },
      );
    },
    async store(tx, { scope: { organizer }, values, known }) {
      const revisions = await credentials.upsert(tx, { organizer, kind, rows: values });
      const changed = values.flatMap((value) => {
        const revision = revisions.get(value.id);
        return revision === undefined ? [] : [factOf({ organizer, ...value, revision, gates: known.gates })];
      });
      await tx.publish(topics.credentialChanged, changed);
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
