import type { Queryable } from "@tessera/kit/pg/database";
import { LRUCache } from "lru-cache";
import { fault } from "../faults.ts";
import { findListsById } from "../store/lists.ts";

export interface PlaceOfList {
  readonly event: string;
  readonly list: number;
}

export interface AskedLists {
  readonly organizer: string;
  /** In order. */
  readonly lists: readonly number[];
  /** Lists of other events are unknown; undefined: of all events. */
  readonly among?: readonly string[] | undefined;
}

/** Finds the events of check-in lists, because scanners name a list by its id alone. */
export interface ListPlaces {
  /** Throws a fault that names each list that is unknown, of an event that another one is of, or of several events. */
  require(asked: AskedLists): Promise<PlaceOfList[]>;
}

/** A scanner names the same lists with each scan. */
const keptMs = 2000;

/** Keeps what was found for two seconds: a list never moves, and a scan on a deleted one is refused anyway. */
export function openListPlaces(db: Queryable): ListPlaces {
  const known = new LRUCache<string, readonly PlaceOfList[]>({
    max: 5000,
    ttl: keptMs,
    fetchMethod: async (key) => {
      const [organizer, lists] = JSON.parse(key) as [string, number[]];
      return findListsById(db, { organizer, lists });
    },
  });
  return {
    async require({ organizer, lists, among }) {
      const key = JSON.stringify([organizer, lists]);
      const found = (await known.fetch(key)) ?? [];
      const places = found.filter(({ event }) => among === undefined || among.includes(event));
      // A list may have been created since.
      if (lists.some((list) => !places.some((place) => place.list === list))) known.delete(key);
      return requireOneEach(lists, places);
    },
  };
}

function requireOneEach(lists: readonly number[], places: readonly PlaceOfList[]): PlaceOfList[] {
  const problems: string[] = [];
  const chosen = lists.flatMap((list) => {
    const of = places.filter((place) => place.list === list);
    if (of.length === 0) problems.push(`There is no check-in list ${list}, or you have no access to it.`);
    if (of.length > 1) {
      const events = of.map(({ event }) => event).join(", ");
      problems.push(
        `Several events have a check-in list ${list}: ${events}. Limit the device or the key to one of them.`,
      );
    }
    return of;
  });
  const unknown = lists.filter((list) => !places.some((place) => place.list === list));
  if (problems.length > 0) throw refusal(unknown.length > 0 ? "unknown_lists" : "invalid_lists", problems);
  const twice = chosen.find(({ event }, index) => chosen.findIndex((other) => other.event === event) < index);
  if (twice !== undefined)
    throw refusal("invalid_lists", [`The event ${twice.event} may have one check-in list here.`]);
  return chosen;
}

function refusal(code: "unknown_lists" | "invalid_lists", lists: readonly string[]) {
  return fault(code, lists.join(" "), { fields: { lists } });
}
