import { CredentialKind } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { formatInstant } from "@tessera/values";
import { toPerson } from "../../access/caller.ts";
import type { Access } from "../../access/may-use.ts";
import type { Sessions } from "../../access/sessions.ts";
import type { Clients } from "../../clients.ts";
import { fault } from "../../faults.ts";
import { detail, invalid, notFound } from "../../http/answers.ts";
import { declareList } from "../../http/list-route.ts";
import { foreignPage, isFromOwnPage } from "../../http/own-page.ts";
import { declare, type Incoming } from "../../http/route.ts";
import { checkGrant } from "./check-grant.ts";
import { sessionExamples } from "./examples.ts";
import { cookieOf, linkRefused, presentListed, presentOwn } from "./present.ts";
import { linkBody, linkShown, sessionBody, sessionListed, sessionShown } from "./schema.ts";

export interface SessionRouteDependencies {
  readonly sessions: Sessions;
  /** Makes the token of a link; a repeated request gets the same one. */
  readonly makeToken: () => string;
  /** Which of these events of an organizer there are. */
  readonly findEvents: (organizer: string, names: readonly string[]) => Promise<ReadonlySet<string>>;
  readonly credentials: Pick<Clients["credentials"], "listCredentials">;
}

const byOperator: Access = { kind: "operator" };
const bySelf: Access = { kind: "person" };

const noOrganizer = notFound("There is no such organizer.");
const cookie = { "Set-Cookie": "The cookie of the session, for the API alone; no script reads it." };

/** How people sign in: links and sessions of an organizer, and the session of the person who asks. */
export function sessionRoutes({ sessions, makeToken, findEvents, credentials }: SessionRouteDependencies) {
  /** Its owner, boxoffice, knows organizers. */
  async function requireOrganizer({ inOrganizer, signal }: Incoming): Promise<void> {
    const anyKey = { kind: CredentialKind.API_KEY, page: 1, pageSize: 1 };
    await credentials.listCredentials(inOrganizer(anyKey), { signal });
  }

  return {
    createLink: declare({
      name: "createSignInLink",
      example: sessionExamples.create,
      summary: "Creates a link with which a person signs in, and shows it, once",
      description: "Who opens it first is signed in; afterwards it is refused.",
      access: byOperator,
      body: linkBody,
      showsSecret: true,
      answers: { created: { description: "The link.", schema: linkShown }, invalid, notFound: noOrganizer },
      exists: requireOrganizer,
      async handle(request) {
        const { organizer, body, url } = request;
        await requireOrganizer(request);
        const named = body.all_events ? [] : body.events;
        const grant = checkGrant(body, named.length === 0 ? new Set() : await findEvents(organizer, named));
        const token = makeToken();
        const times = { linkSeconds: body.valid_for, seconds: body.session_for };
        const link = await sessions.createLink(token, { organizer, name: body.name, ...grant, ...times });
        // Behind `#`, so that no server logs it.
        const shown = { id: link.id, link: `${url.base}/board/#link=${token}`, expires: formatInstant(link.endsAt) };
        return { status: "created", body: shown };
      },
    }),

    list: declareList({
      name: "listSessions",
      example: sessionExamples.list,
      summary: "Lists the sessions of people of an organizer, and links that were not opened yet",
      description: "The latest first. What is over is listed for a week.",
      access: byOperator,
      page: "One page of links and sessions.",
      shows: sessionListed,
      missing: noOrganizer,
      async find(request, page) {
        const found = await sessions.page(request.organizer, page);
        if (found.count === 0) await requireOrganizer(request);
        return { ...found, results: found.results.map(presentListed) };
      },
    }),

    revoke: declare({
      name: "revokeSession",
      example: sessionExamples.revoke,
      summary: "Revokes a session of a person, or a link",
      description: "Every gateway refuses it at once.",
      access: byOperator,
      answers: {
        noContent: { description: "It is revoked." },
        notFound: notFound("There is no such organizer, or it has no such session."),
      },
      async handle(request) {
        const { organizer } = request;
        if (!(await sessions.revoke({ organizer, id: request.uuid("session") })))
          throw fault("not_found", "The organizer has no such session.");
        return { status: "noContent" };
      },
    }),

    begin: declare({
      name: "beginSession",
      example: sessionExamples.begin,
      summary: "Signs in the person who opened a link",
      description:
        "The link works once; a lost answer can be asked for again with the same `opening`. Requests with the cookie are those of the person, where they have no `Authorization`.",
      access: { kind: "public" },
      body: sessionBody,
      answers: {
        ok: { description: "The session.", schema: sessionShown, headers: cookie },
        invalid,
        forbidden: { description: "A page of another host has sent this.", schema: detail },
      },
      async handle(request) {
        const { base } = request.url;
        // Otherwise the page of another host could sign a person in as somebody else.
        if (isFromOwnPage((name) => request.header(name), base) === false) throw foreignPage();
        const { link, opening } = request.body;
        const redeemed = await sessions.redeem(link, opening);
        if (redeemed.kind !== "begun") throw linkRefused(redeemed.kind === "refused" ? redeemed.link : undefined);
        const { session, token } = redeemed;
        const headers = cookieOf({ base, token, seconds: secondsLeft(session) });
        return { status: "ok", headers, body: presentOwn(toPerson(session)) };
      },
    }),

    get: declare({
      name: "getSession",
      example: sessionExamples.get,
      summary: "Shows the session of the person who asks",
      access: bySelf,
      answers: { ok: { description: "The session.", schema: sessionShown } },
      handle: async ({ tenant }) => ({ status: "ok", body: presentOwn(tenant) }),
    }),

    end: declare({
      name: "endSession",
      example: sessionExamples.end,
      summary: "Signs out the person who asks",
      access: bySelf,
      answers: { noContent: { description: "The session is over.", headers: cookie } },
      async handle({ tenant, url }) {
        await sessions.leave(tenant);
        return { status: "noContent", headers: cookieOf({ base: url.base, seconds: 0 }) };
      },
    }),
  };
}

const secondsLeft = ({ endsInMs }: { readonly endsInMs: number }) => Math.floor(endsInMs / 1000);
