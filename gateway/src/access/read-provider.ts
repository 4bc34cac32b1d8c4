import type { Secret } from "@tessera/kit/config/redacted";
import { fault } from "../faults.ts";
import type { ProviderSettings } from "./identity-provider.ts";

interface Configured {
  readonly oidcIssuer: string | undefined;
  readonly oidcClientId: string | undefined;
  readonly oidcClientSecret: Secret<string> | undefined;
  readonly oidcClaim: string;
}

/** How this deployment uses the provider of identities; undefined: it has none. Throws where a part is missing. */
export function readProvider({
  oidcIssuer: issuer,
  oidcClientId: clientId,
  oidcClientSecret: clientSecret,
  oidcClaim: claim,
}: Configured): ProviderSettings | undefined {
  const parts = { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret };
  if (issuer !== undefined && clientId !== undefined && clientSecret !== undefined)
    return { issuer, clientId, clientSecret: clientSecret.reveal(), claim };
  const missing = Object.entries(parts).flatMap(([name, value]) => (value === undefined ? [name] : []));
  if (missing.length === Object.keys(parts).length) return undefined;
  const problem = "is required where people sign in at a provider of identities";
  throw fault(
    "configuration_invalid",
    `configuration:\n  ${missing.map((name) => `${name} ${problem}`).join("\n  ")}`,
    {
      fields: Object.fromEntries(missing.map((name) => [name, [problem]])),
    },
  );
}
