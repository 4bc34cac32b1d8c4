import { isTimeZone, type Localized } from "@tessera/values";
import { type Answer, askServer } from "../server/ask-server.ts";
import { now } from "../server/clock.ts";
import type { KeptDevice } from "./kept-device.ts";

export interface EventToScan {
  readonly slug: string;
  readonly name: Localized;
  readonly begins: string;
  /** Undefined: this browser does not know it. */
  readonly zone: string | undefined;
}

export interface ListToScan {
  readonly id: number;
  readonly name: string;
  /** The name of its date, in a series. */
  readonly date: Localized | undefined;
}

/** What the server would scan now. */
export interface Suggestion {
  readonly event: string;
  readonly list: number | null;
}

/** A list, or what kept it away. */
export type Listed<T> =
  | { readonly kind: "listed"; readonly results: readonly T[] }
  | { readonly kind: Exclude<Answer["kind"], "answer"> | "refused" };

/** Crews come early, and clean up late. */
const afterMs = 24 * 3_600_000;

export async function findEvents({ organizer, token }: KeptDevice): Promise<Listed<EventToScan>> {
  const since = new Date(now() - afterMs).toISOString();
  const answer = await askServer(`organizers/${organizer}/events/?ends_after=${since}&page_size=50`, { token });
  return toListed(answer, (shown: { slug: string; name: Localized; date_from: string; timezone: string }) => ({
    slug: shown.slug,
    name: shown.name,
    begins: shown.date_from,
    zone: isTimeZone(shown.timezone) ? shown.timezone : undefined,
  }));
}

export async function findLists({ organizer, token }: KeptDevice, event: string): Promise<Listed<ListToScan>> {
  const query = "exclude=checkin_count&exclude=position_count&expand=subevent&page_size=100";
  const answer = await askServer(`organizers/${organizer}/events/${event}/checkinlists/?${query}`, { token });
  return toListed(answer, (shown: { id: number; name: string; subevent: { name?: Localized } | null }) => ({
    id: shown.id,
    name: shown.name,
    date: shown.subevent?.name,
  }));
}

export async function findSuggestion({ token }: KeptDevice): Promise<Suggestion | undefined> {
  const answer = await askServer("device/eventselection", { token });
  if (answer.kind !== "answer" || answer.status !== 200) return undefined;
  const { event, checkinlist } = answer.body as { event: { slug: string }; checkinlist: number | null };
  return { event: event.slug, list: checkinlist };
}

/** The names of gates, by id. */
export async function findGates({ organizer, token }: KeptDevice): Promise<ReadonlyMap<number, string>> {
  const answer = await askServer(`organizers/${organizer}/gates/?page_size=100`, { token });
  const found = toListed(answer, (shown: { id: number; name: string }) => shown);
  return new Map(found.kind === "listed" ? found.results.map(({ id, name }) => [id, name]) : []);
}

function toListed<S, T>(answer: Answer, read: (shown: S) => T): Listed<T> {
  if (answer.kind !== "answer") return { kind: answer.kind };
  if (answer.status !== 200) return { kind: "refused" };
  return { kind: "listed", results: (answer.body as { results: readonly S[] }).results.map(read) };
}
