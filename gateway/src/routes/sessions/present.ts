import type { Fault } from "@tessera/kit/fault";
import { formatInstant } from "@tessera/values";
import type { Tenant } from "../../access/caller.ts";
import { sessionCookie, writeCookie } from "../../access/cookies.ts";
import { fault } from "../../faults.ts";
import type { Session } from "../../store/session-rows.ts";

export function presentListed(session: Session) {
  const { id, name, state, permissions, allEvents, events, createdAt, beganAt, endsAt } = session;
  return {
    ...{ id, name, state, permissions, all_events: allEvents, events },
    created: formatInstant(createdAt),
    began: beganAt === null ? null : formatInstant(beganAt),
    expires: formatInstant(endsAt),
  };
}

/** The session of the person who asks. */
export function presentOwn({ organizer, name, permissions, events, endsAt }: Tenant) {
  return {
    ...{ organizer, name, permissions: [...permissions] },
    ...{ all_events: events === undefined, events: [...(events ?? [])] },
    expires: formatInstant(endsAt ?? 0),
  };
}

/** The cookie of a session; without a token the browser forgets it. */
export function cookieOf({
  base,
  token,
  seconds,
}: {
  readonly base: string;
  readonly token?: string;
  readonly seconds: number;
}) {
  const options = { base, path: "/api/", seconds, sameSite: "Strict" } as const;
  return { "Set-Cookie": writeCookie(sessionCookie, token ?? "", options) };
}

export function linkRefused(link: Session | undefined): Fault {
  const message = whyRefused(link);
  return fault("link_refused", message, { fields: { link: [message] } });
}

function whyRefused(link: Session | undefined): string {
  if (link === undefined) return "This link is not known: check that it is whole, or ask for another one.";
  if (link.state === "revoked") return "This link was revoked: ask for another one.";
  if (link.beganAt === null) return `This link could be opened until ${tell(link.endsAt)}: ask for another one.`;
  return `This link was opened at ${tell(link.beganAt)}, and works once: ask for another one.`;
}

/** To the minute. */
function tell(at: number): string {
  return `${formatInstant(at).slice(0, 16).replace("T", " ")} UTC`;
}
