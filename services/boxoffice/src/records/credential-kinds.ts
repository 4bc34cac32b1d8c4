import type { CredentialKind as Published } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import type * as credentials from "../store/credential-rows.ts";
import { apiKey } from "./api-key.ts";
import type { CredentialKind } from "./credential.ts";
import { device } from "./device.ts";

export const credentialKinds: Readonly<Record<credentials.CredentialKind, CredentialKind>> = {
  api_key: apiKey,
  device,
};

/** Finds a kind by its name in messages. */
export function credentialKindOf(name: Published): CredentialKind {
  const kind = Object.values(credentialKinds).find(({ published }) => published === name);
  if (kind === undefined) throw new Error("there is no such kind of credential");
  return kind;
}
