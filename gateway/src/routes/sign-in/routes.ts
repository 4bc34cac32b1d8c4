import { isSlug } from "@tessera/values";
import type { Identity, IdentityProvider } from "../../access/identity-provider.ts";
import type { Sessions } from "../../access/sessions.ts";
import { fault } from "../../faults.ts";
import { detail, invalid } from "../../http/answers.ts";
import { textFilter } from "../../http/parameter.ts";
import { declare } from "../../http/route.ts";
import { cookieOf } from "../sessions/present.ts";
import { readAttempt, writeAttempt } from "./attempt-cookie.ts";
import { choicePage, pageHeaders } from "./choice-page.ts";

export interface SignInRouteDependencies {
  readonly provider: IdentityProvider;
  readonly sessions: Pick<Sessions, "begin">;
}

const beginPath = "/api/v1/session/oidc/";

/** Where the provider sends a browser back to. */
export const callbackPath = "/api/v1/session/oidc/callback/";

/** Half a day: a shift. */
const sessionSeconds = 43_200;

const access = { kind: "public" } as const;

const unavailable = { description: "The provider of identities cannot be used now.", schema: detail };

/** How people sign in at the platform's provider of identities, with OpenID Connect: pages for browsers. */
export function signInRoutes({ provider, sessions }: SignInRouteDependencies) {
  return {
    begin: declare({
      name: "signInAtProvider",
      summary: "Sends a browser to the provider of identities",
      access,
      isPage: true,
      produces: "text/html",
      query: { organizer: textFilter("The organizer to sign in to; needed by accounts of several.") },
      answers: { seeOther: { description: "To the provider." }, invalid, unavailable: unavailable },
      async handle({ query: { organizer = "" }, url: { base }, isHead }) {
        if (organizer !== "" && !isSlug(organizer)) throw notSlug();
        // The board asks whether there is a provider: that begins nothing.
        if (isHead) return { status: "seeOther", headers: { Location: `${base}${beginPath}` } };
        const { address, attempt } = await provider.begin(base + callbackPath);
        const cookie = writeAttempt({ ...attempt, organizer }, base);
        return { status: "seeOther", headers: { Location: address, "Set-Cookie": cookie } };
      },
    }),

    end: declare({
      name: "comeBackFromProvider",
      summary: "Signs in the person that the provider of identities sends back",
      access,
      isPage: true,
      produces: "text/html",
      answers: {
        ok: { description: "A page to choose one of several organizers.", schema: { type: "string" } },
        seeOther: { description: "Signed in, and to the board." },
        invalid: { description: "The provider has refused, or this browser has not begun to sign in.", schema: detail },
        forbidden: { description: "The account opens no organizer, or not this one.", schema: detail },
        unavailable: unavailable,
      },
      async handle(request) {
        const { base, search } = request.url;
        const attempt = readAttempt(request.header("Cookie"));
        if (attempt === undefined || search.get("state") !== attempt.state) throw notBegun();
        const identity = await provider.finish(`${base}${callbackPath}?${search.toString()}`, attempt);
        const organizer = attempt.organizer === "" ? onlyOne(identity) : attempt.organizer;
        if (organizer === undefined)
          return {
            status: "ok",
            type: "text/html; charset=utf-8",
            headers: pageHeaders,
            body: choicePage([...identity.grants.keys()].sort(), base),
          };
        const permissions = identity.grants.get(organizer);
        if (permissions === undefined) throw notGranted(organizer);
        const grant = { organizer, name: identity.name, permissions, allEvents: true, events: [] };
        const { token } = await sessions.begin(grant, { seconds: sessionSeconds });
        const cookie = cookieOf({ base, token, seconds: sessionSeconds });
        return { status: "seeOther", headers: { ...cookie, Location: `${base}/board/` } };
      },
    }),
  };
}

/** The organizer of an account; undefined: it has several. */
function onlyOne({ grants }: Identity): string | undefined {
  const [organizer] = grants.keys();
  if (organizer === undefined)
    throw fault("forbidden", "This account opens no organizer here: ask who runs the platform.");
  return grants.size === 1 ? organizer : undefined;
}

const notGranted = (organizer: string) => fault("forbidden", `This account does not open the organizer ${organizer}.`);

const notBegun = () => fault("sign_in_refused", "This sign-in began in another browser or too long ago: begin again.");

const notSlug = () =>
  fault("invalid_query", "the organizer is no slug", { fields: { organizer: ["This is no slug of an organizer."] } });
