import type { Fault } from "@tessera/kit/fault";
import { Turns } from "@tessera/kit/waiting/turns";
import type * as oidc from "openid-client";
import { fault } from "../faults.ts";
import { readGrants } from "./read-grants.ts";

export interface ProviderSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The claim of an account that says what it may do. */
  readonly claim: string;
}

/** What a browser keeps while its person is at the provider. */
export interface Attempt {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** Who has signed in at the provider. */
export interface Identity {
  readonly name: string;
  /** Permissions by organizer. */
  readonly grants: ReadonlyMap<string, readonly string[]>;
}

/** The provider of identities of the platform, by OpenID Connect. */
export interface IdentityProvider {
  /** The address at the provider that a browser is sent to, from where it comes back to `callback`. */
  begin(callback: string): Promise<{ readonly address: string; readonly attempt: Attempt }>;
  /** Learns who came back, from the whole address. */
  finish(address: string, attempt: Attempt): Promise<Identity>;
}

/** Shorter than the timeouts of browsers. */
const timeoutSeconds = 10;

/** The provider's metadata is read again after an hour; its keys whenever a token has an unknown one. */
const knownMs = 3_600_000;

/** Anybody can make the gateway ask the provider. */
const limits = {
  ...{ total: 8, each: 8, waitMs: 5000, queue: 100 },
  busy: () => fault("provider_busy", "Too many people sign in at this moment; try again.", { retryAfterMs: 5000 }),
};

/** Opens the provider; it is asked for the first time when somebody signs in. */
export function openIdentityProvider({ issuer, clientId, clientSecret, claim }: ProviderSettings): IdentityProvider {
  const turns = new Turns(limits);
  let known: { readonly config: Promise<oidc.Configuration>; readonly until: number } | undefined;

  async function discover(): Promise<oidc.Configuration> {
    const client = await load();
    const url = new URL(issuer);
    // By a method that the provider supports; if it names none, in the header.
    const authenticate: oidc.ClientAuth = (server, ...request) => {
      const inBody = server.token_endpoint_auth_methods_supported?.includes("client_secret_post") === true;
      (inBody ? client.ClientSecretPost : client.ClientSecretBasic)(clientSecret)(server, ...request);
    };
    const execute = [client.enableNonRepudiationChecks];
    // Settings take an issuer without TLS on this machine alone.
    // oxlint-disable-next-line typescript/no-deprecated
    if (url.protocol === "http:") execute.push(client.allowInsecureRequests);
    return client.discovery(url, clientId, undefined, authenticate, { execute, timeout: timeoutSeconds });
  }

  function configuration(): Promise<oidc.Configuration> {
    if (known !== undefined && performance.now() < known.until) return known.config;
    const config = discover();
    const found = { config, until: performance.now() + knownMs };
    known = found;
    config.catch(() => {
      if (known === found) known = undefined;
    });
    return config;
  }

  async function identify(address: string, { state, nonce, verifier }: Attempt): Promise<Identity> {
    const client = await load();
    const config = await configuration();
    const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier };
    const tokens = await client.authorizationCodeGrant(config, new URL(address), checks);
    const token = tokens.claims();
    if (token === undefined) throw new Error("the provider answered without an ID token");
    const isComplete = token[claim] !== undefined || config.serverMetadata().userinfo_endpoint === undefined;
    const more = isComplete ? {} : await client.fetchUserInfo(config, tokens.access_token, token.sub);
    const claims: Readonly<Record<string, unknown>> = { ...more, ...token };
    return { name: nameOf(claims), grants: readGrants(claims[claim]) };
  }

  const ask = <T>(work: () => Promise<T>) =>
    turns.run({ party: "", amount: 1 }, async () => {
      try {
        return await work();
      } catch (error) {
        throw await toFault(error);
      }
    });

  return {
    begin: (callback) =>
      ask(async () => {
        const client = await load();
        const attempt = {
          state: client.randomState(),
          nonce: client.randomNonce(),
          verifier: client.randomPKCECodeVerifier(),
        };
        const address = client.buildAuthorizationUrl(await configuration(), {
          redirect_uri: callback,
          scope: "openid profile",
          state: attempt.state,
          nonce: attempt.nonce,
          code_challenge: await client.calculatePKCECodeChallenge(attempt.verifier),
          code_challenge_method: "S256",
        });
        return { address: address.href, attempt };
      }),
    finish: (address, attempt) => ask(() => identify(address, attempt)),
  };
}

/** Loaded where it is used alone: most platforms have no provider. */
const load = () => import("openid-client");

function nameOf(claims: Readonly<Record<string, unknown>>): string {
  const names = ["name", "preferred_username", "email", "sub"].map((claim) => claims[claim]);
  const name = names.find((each) => typeof each === "string" && printable(each) !== "");
  return typeof name === "string" ? printable(name) : "";
}

const mostCharacters = 190;

/** One line, of characters that a database takes. */
function printable(text: string): string {
  return [
    ...text
      .toWellFormed()
      .replaceAll(/\p{C}+/gu, " ")
      .trim(),
  ]
    .slice(0, mostCharacters)
    .join("");
}

/** Mistakes of the client's registration, which no person can mend. */
const misconfigured: ReadonlySet<string> = new Set(["invalid_client", "unauthorized_client", "unsupported_grant_type"]);

async function toFault(error: unknown): Promise<Fault> {
  const client = await load();
  const said =
    error instanceof client.AuthorizationResponseError || error instanceof client.ResponseBodyError ? error : undefined;
  if (said !== undefined && !misconfigured.has(said.error)) return refusedBy(said);
  // The state, nonce, issuer or signature of the answer does not fit the request.
  if (error instanceof client.ClientError && error.code !== undefined && unfitting.has(error.code))
    return fault("provider_refused", "The answer of the provider of identities does not fit: sign in again.", {
      cause: error,
    });
  return fault("provider_unavailable", "The provider of identities cannot be used at the moment; try again later.", {
    cause: error,
  });
}

const unfitting: ReadonlySet<string> = new Set([
  "OAUTH_INVALID_RESPONSE",
  "OAUTH_JWT_CLAIM_COMPARISON_FAILED",
  "OAUTH_JWT_TIMESTAMP_CHECK_FAILED",
]);

function refusedBy({
  error,
  error_description: description = "",
}: {
  error: string;
  error_description?: string;
}): Fault {
  const why = [error, description].map(printable).filter((text) => text !== "");
  return fault("provider_refused", `The provider of identities has not signed you in: ${why.join(", ")}`);
}
