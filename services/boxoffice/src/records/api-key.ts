import { object } from "@tessera/kit/schema-build";
import { topics } from "@tessera/protos/topics";
import { compileKeyReader, compileReader, type Reading, type Rule } from "@tessera/records/read";
import { verbatim } from "@tessera/records/schema-parts";
import { notKnown, ofElement, refuseEach } from "@tessera/records/validate";
import * as resources from "@tessera/resources/credential";
import { isPermission, resolvePermissions } from "@tessera/values";
import * as credentials from "../store/credentials.ts";
import { apiKeyFact, credentialKey, type StoredApiKey } from "./credential-fact.ts";
import type { RecordKind } from "./kind.ts";
import { hashToken, TokenOwners } from "./token.ts";

/** An API key without its clear token. */
interface ApiKeyRecord {
  readonly id: string;
  readonly tokenHash: Buffer;
  readonly data: StoredApiKey;
  readonly document: string;
}

const schema = object({ token: verbatim(1000), ...resources.apiKey.properties }, { required: ["token"] });

const rules: Readonly<Record<string, Rule>> = {
  "permissions.*": (name) =>
    typeof name === "string" && !isPermission(name) ? "There is no permission of this name." : undefined,
};

function complete<K extends StoredApiKey>(key: K): K {
  return { ...key, permissions: resolvePermissions(key.permissions) };
}

const read = compileReader(schema, { rules, complete, omit: ["token"] });

/** Reads all there is of an API key but its token. */
export const readApiKeyFields = compileReader(resources.apiKey, { rules, complete });

/** Makes the record of a key whose token only its hash is known of. */
export function apiKeyOf(tokenHash: Buffer, { data, document }: Reading<StoredApiKey>): ApiKeyRecord {
  return { id: tokenHash.toString("hex"), tokenHash, data, document };
}

const readToken = compileKeyReader(schema, "token");

/** An API key. It is known by the hash of its token. */
export const apiKey: RecordKind<ApiKeyRecord> = {
  name: "api_key",
  schema,
  read(data) {
    const checked = read(data);
    if (!checked.ok) return checked;
    const { token, ...stored } = checked.value.data;
    return { ok: true, value: apiKeyOf(hashToken(token), { data: stored, document: checked.value.document }) };
  },
  readKey(data) {
    const token = readToken(data);
    return token.ok ? { ok: true, value: hashToken(token.value).toString("hex") } : token;
  },
  keyOf: ({ id }) => id,
  mention({ id, data }, mentioned) {
    mentioned.tokens.add(id);
    for (const event of data.events) mentioned.events.add(event);
  },
  async refuse(_tx, { scope, values, known }) {
    const owners = new TokenOwners(known);
    const ownerOf = ({ id }: ApiKeyRecord) => `${scope.organizer}/api_key/${id}`;
    return refuseEach(
      values,
      (value, addError) => {
        const { data } = value;
        owners.validate(value, ownerOf(value), addError);
        for (const [index, event] of data.events.entries()) {
          if (!known.events.has(event)) addError("events", ofElement(index, notKnown("event")));
        }
      },
      (value) => owners.admit(value, ownerOf(value)),
    );
  },
  async store(tx, { scope: { organizer }, values }) {
    const revisions = await credentials.upsert(tx, { organizer, kind: "api_key", rows: values });
    const changed = values.flatMap((key) => {
      const revision = revisions.get(key.id);
      return revision === undefined ? [] : [apiKeyFact({ organizer, ...key, revision })];
    });
    await tx.publish(topics.credentialChanged, changed);
  },
  async remove(tx, { scope: { organizer }, keys }) {
    const removed = await credentials.remove(tx, { organizer, kind: "api_key", ids: keys });
    await tx.retract(
      topics.credentialChanged,
      removed.map((id) => credentialKey(organizer, "api_key", id)),
    );
  },
};
