import { compileKeyReader, compileReader, type Rule } from "@tessera/records/read";
import * as resources from "@tessera/resources/credential";
import { apiKeyRecord } from "@tessera/resources/records/api-key";
import type { TypeOf } from "@tessera/schema/schema";
import { closestName, isPermission, permissions, resolvePermissions } from "@tessera/values";
import { apiKeyFields } from "../wire/credential-messages.ts";
import { credentialKind, hashToken, tokenRule } from "./credential.ts";

function explainPermission(name: string): string {
  const meant = closestName(name, permissions);
  const hint = meant === undefined ? "Examples: event.orders:read, event.orders:checkin, *." : `Did you mean ${meant}?`;
  return `There is no permission of this name. ${hint}`;
}

const rules: Readonly<Record<string, Rule>> = {
  "permissions.*": (name) => (typeof name === "string" && !isPermission(name) ? explainPermission(name) : undefined),
};

type StoredApiKey = TypeOf<typeof resources.apiKey>;

function complete<K extends StoredApiKey>(key: K): K {
  return { ...key, permissions: resolvePermissions(key.permissions) };
}

const readToken = compileKeyReader(apiKeyRecord, "token");

/** An API key, identified by the hash of its token. */
export const apiKey = credentialKind<StoredApiKey>({
  name: "api_key",
  noun: "API key",
  absent: "api_key_not_found",
  schema: apiKeyRecord,
  readAll: compileReader(apiKeyRecord, { rules: { ...rules, token: tokenRule }, complete, omit: ["token"] }),
  readFields: compileReader(resources.apiKey, { rules, complete }),
  readKey(data) {
    const token = readToken(data);
    return token.ok ? { ok: true, value: hashToken(token.value).toString("hex") } : token;
  },
  idOf(_data, tokenHash) {
    if (tokenHash === null) throw new Error("an API key without a token has no id");
    return tokenHash.toString("hex");
  },
  // Fewer characters are a typing error, even if only one key matches.
  idPrefix: /^[0-9a-f]{8,64}$/,
  ...apiKeyFields,
  isActive: ({ active }) => active,
  revoked: { active: false },
  ownPartOf: ({ permissions }) => ({ permissions: [...permissions] }),
});
