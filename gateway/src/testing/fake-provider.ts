import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";

export const clientId = "tessera";
export const clientSecret = "secret-of-the-client-of-tests";

export interface Account {
  readonly claims: Readonly<Record<string, unknown>> & { readonly sub: string };
  /** The claims are told by the address for them alone, not in the token. */
  readonly apart?: boolean;
}

export interface TestProvider {
  readonly issuer: string;
  /** Who signs in next; undefined: somebody who gives up. */
  account: Account | undefined;
  /** Begins to break every connection. */
  fail(): void;
  close(): Promise<void>;
}

/** A provider of identities on a free port of this machine, whose people sign in without being asked. */
export async function startProvider({ callback }: { readonly callback: string }): Promise<TestProvider> {
  let isFailing = false;
  let account: Account | undefined;
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [callback],
        response_types: ["code"],
        grant_types: ["authorization_code"],
      },
    ],
    // By default only the address for claims tells those of a scope.
    claims: { openid: ["sub", "tessera"], profile: ["name"] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: () => "/interaction" },
    cookies: { keys: ["key-of-tests"] },
    findAccount: (_ctx, sub) => ({
      accountId: sub,
      claims: async (use) => {
        const { claims = { sub }, apart = false } = account ?? {};
        return apart && use === "id_token" ? { sub } : claims;
      },
    }),
    async loadExistingGrant(ctx) {
      const grant = new ctx.oidc.provider.Grant({ clientId, accountId: ctx.oidc.session?.accountId ?? "" });
      grant.addOIDCScope("openid profile");
      await grant.save();
      return grant;
    },
  });
  const answer = provider.callback();
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    if (isFailing) return void request.socket.destroy();
    if (request.url?.startsWith("/interaction") !== true) return void answer(request, response);
    const result =
      account === undefined
        ? { error: "access_denied", error_description: "Gave up <b>here</b>" }
        : { login: { accountId: account.claims.sub } };
    return void provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  });
  return {
    issuer,
    get account() {
      return account;
    },
    set account(next) {
      account = next;
    },
    fail() {
      isFailing = true;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
