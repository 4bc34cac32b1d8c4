import { isTimeZone, type Localized } from "@tessera/values";
import { type Listed, type ListPage, readPages } from "../../ui/read-pages.ts";
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

/** What came in the place of a list. */
interface NotListed {
  readonly kind: Exclude<Answer["kind"], "answer"> | "refused";
}

export type Found<T> = Listed<T> | NotListed;

/** Crews come early, and clean up late. */
const afterMs = 24 * 3_600_000;

export async function findEvents(device: KeptDevice): Promise<Found<EventToScan>> {
  const since = new Date(now() - afterMs).toISOString();
  return findAll(
    device,
    `events/?ends_after=${since}`,
    (shown: { slug: string; name: Localized; date_from: string; timezone: string }) => ({
      slug: shown.slug,
      name: shown.name,
      begins: shown.date_from,
      zone: isTimeZone(shown.timezone) ? shown.timezone : undefined,
    }),
  );
}

export async function findLists(device: KeptDevice, event: string): Promise<Found<ListToScan>> {
  return findAll(
    device,
    `events/${event}/checkinlists/?exclude=checkin_count&exclude=position_count&expand=subevent`,
    (shown: { id: number; name: string; subevent: { name?: Localized } | null }) => ({
      id: shown.id,
      name: shown.name,
      date: shown.subevent?.name,
    }),
  );
}

/** The event that the server would scan now. */
export async function findSuggestion({ token }: KeptDevice): Promise<string | undefined> {
  const answer = await askServer("device/eventselection", { token });
  if (answer.kind !== "answer" || answer.status !== 200) return undefined;
  return (answer.body as { event: { slug: string } }).event.slug;
}

/** The names of gates, by id. */
export async function findGates(device: KeptDevice): Promise<ReadonlyMap<number, string>> {
  const found = await findAll(device, "gates/", (shown: { id: number; name: string }) => shown);
  return new Map(found.kind === "listed" ? found.results.map(({ id, name }) => [id, name]) : []);
}

async function findAll<S, T>({ organizer, token }: KeptDevice, path: string, read: (shown: S) => T): Promise<Found<T>> {
  const found = await readPages<S, NotListed>(`organizers/${organizer}/${path}`, async (page) => {
    const answer = await askServer(page, { token });
    if (answer.kind !== "answer") return { kind: answer.kind };
    return answer.status === 200 ? (answer.body as ListPage<S>) : { kind: "refused" };
  });
  return found.kind === "listed" ? { ...found, results: found.results.map(read) } : found;
}
