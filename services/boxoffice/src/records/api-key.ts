import { ApiKeyFields } from "@tessera/protos/gen/ticketing/boxoffice/v1/credentials";
import { compileKeyReader, compileReader, type Rule } from "@tessera/records/read";
import { verbatim } from "@tessera/records/schema-parts";
import * as resources from "@tessera/resources/credential";
import { object } from "@tessera/schema/build";
import { fields } from "@tessera/schema/fields";
import type { TypeOf } from "@tessera/schema/schema";
import { isPermission, resolvePermissions } from "@tessera/values";
import { credentialKind, hashToken } from "./credential.ts";

const schema = object({ token: verbatim(1000), ...resources.apiKey.properties }, { required: ["token"] });

const rules: Readonly<Record<string, Rule>> = {
  "permissions.*": (name) =>
    typeof name === "string" && !isPermission(name) ? "There is no permission of this name." : undefined,
};

type StoredApiKey = TypeOf<typeof resources.apiKey>;

function complete<K extends StoredApiKey>(key: K): K {
  return { ...key, permissions: resolvePermissions(key.permissions) };
}

const readToken = compileKeyReader(schema, "token");
const shapes = fields(resources.apiKey, ApiKeyFields);

/** An API key. It is known by the hash of its token. */
export const apiKey = credentialKind<StoredApiKey>({
  name: "api_key",
  noun: "API key",
  aNoun: "an API key",
  absent: "api_key_not_found",
  schema,
  readAll: compileReader(schema, { rules, complete, omit: ["token"] }),
  readFields: compileReader(resources.apiKey, { rules, complete }),
  readKey(data) {
    const token = readToken(data);
    return token.ok ? { ok: true, value: hashToken(token.value).toString("hex") } : token;
  },
  idOf(_data, tokenHash) {
    if (tokenHash === null) throw new Error("an API key without a token has no id");
    return tokenHash.toString("hex");
  },
  // Fewer characters are a typing error, even where they happen to lead to one key.
  idPrefix: /^[0-9a-f]{8,64}$/,
  toMessage: (data) => ({ apiKey: shapes.toMessage(data) }),
  toData: ({ apiKey: message }) => message && shapes.present(message),
  isActive: ({ active }) => active,
  revoked: { active: false },
  ownPartOf: ({ permissions }) => ({ permissions: [...permissions] }),
});
