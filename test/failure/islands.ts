import type { Dice } from "@tessera/testkit/dice";

/** A scan that an island admitted by itself, and will upload. */
export interface IslandScan {
  readonly ticket: number;
  readonly type: "entry" | "exit";
  readonly device: number;
  /** In microseconds since 1970. */
  readonly at: number;
  readonly nonce: string;
}

/** A double that must be in the ledger, by the scans that it consists of. */
export interface ExpectedDouble {
  readonly ticket: number;
  readonly scan: string;
  readonly earlier: string | null;
  readonly reason: string;
}

export interface IslandsDay {
  readonly scans: readonly IslandScan[];
  readonly expected: readonly ExpectedDouble[];
  /** Tickets whose order the shop canceled while no scanner could hear of it. */
  readonly canceled: ReadonlySet<number>;
  /** How many tickets of visitors with a right to come in an island refused. */
  readonly validRefused: number;
  /** How many copies an island refused, because one of its devices had let the ticket in. */
  readonly copiesRefused: number;
  /** Tickets that are inside and were never doubled. */
  readonly inside: readonly number[];
}

/** The devices of an island know of each other, and of no other island. */
const islands = [
  [1, 2, 3, 4, 5, 6, 7, 8],
  [11, 12, 13, 14, 15, 16, 17, 18],
] as const;

const secondMicros = 1_000_000;

/** A ticket as the visitors carry it about. */
interface Carried {
  readonly ticket: number;
  readonly island: number;
  /** The nonce and the device of its last entry. */
  last: { readonly nonce: string; readonly device: number };
}

/**
 * Plans the scans of two islands that have had no network: visitors who come, leave and come back on either island, copies
 * of tickets that are tried on the same island and on the other one, and devices that let a ticket in again.
 */
export function planIslands(
  dice: Dice,
  { from, seconds, perSecond }: { readonly from: number; readonly seconds: number; readonly perSecond: number },
): IslandsDay {
  const scans: IslandScan[] = [];
  const expected: ExpectedDouble[] = [];
  const canceled = new Set<number>();
  const inside: Carried[] = [];
  const outside: number[] = [];
  /** What each island knows: who is inside. */
  const known = islands.map(() => new Set<number>());
  let tickets = 0;
  let validRefused = 0;
  let copiesRefused = 0;

  function scan(ticket: number, type: IslandScan["type"], device: number, at: number): IslandScan {
    const made = { ticket, type, device, at, nonce: `scan ${scans.length}` };
    scans.push(made);
    return made;
  }

  /** Whether the island lets a ticket in, by what its devices know. */
  function isLetIn(ticket: number, island: number): boolean {
    if (known[island]?.has(ticket) === true) return false;
    known[island]?.add(ticket);
    return true;
  }

  function comeIn(ticket: number, at: number): void {
    const island = dice.below(islands.length);
    if (!isLetIn(ticket, island)) {
      validRefused += 1;
      return;
    }
    const { nonce, device } = scan(ticket, "entry", dice.pick(islands[island] ?? []), at);
    if (!canceled.has(ticket)) inside.push({ ticket, island, last: { nonce, device } });
    else expected.push({ ticket, scan: nonce, earlier: null, reason: "canceled" });
  }

  const take = <T>(from: T[]): T | undefined => from.splice(dice.below(from.length), 1)[0];

  for (let number = 0; number < seconds * perSecond; number += 1) {
    const at = from + Math.floor((number * secondMicros) / perSecond);
    const choice = dice.below(100);
    if (choice < 10 && outside.length > 0) comeIn(take(outside) ?? 0, at);
    else if (choice < 25 && inside.length > 0) {
      // They leave where they came in.
      const { ticket, island } = take(inside) as Carried;
      scan(ticket, "exit", dice.pick(islands[island] ?? []), at);
      known[island]?.delete(ticket);
      outside.push(ticket);
    } else if (choice < 28 && inside.length > 0) {
      // A device lets a ticket in again, because a person says so.
      const carried = dice.pick(inside);
      const { nonce } = scan(carried.ticket, "entry", carried.last.device, at);
      carried.last = { ...carried.last, nonce };
    } else if (choice < 32 && inside.length > 0) {
      // A copy is tried on the same island.
      const { ticket, island } = dice.pick(inside);
      if (isLetIn(ticket, island)) throw new Error("an island let a ticket in twice");
      copiesRefused += 1;
    } else if (choice < 36 && inside.length > 0) {
      // A copy comes to the other island; who carries it stays there.
      const { ticket, island, last } = take(inside) as Carried;
      const other = 1 - island;
      if (!isLetIn(ticket, other)) throw new Error("an island knew what it cannot know");
      const { nonce } = scan(ticket, "entry", dice.pick(islands[other] ?? []), at);
      expected.push({ ticket, scan: nonce, earlier: last.nonce, reason: "already_redeemed" });
    } else {
      tickets += 1;
      if (dice.chance(2)) canceled.add(tickets);
      comeIn(tickets, at);
    }
  }
  return { scans, expected, canceled, validRefused, copiesRefused, inside: inside.map(({ ticket }) => ticket) };
}

/** The uploads of each device, in its order; some are sent twice. */
export function queuesOf({ scans }: IslandsDay, dice: Dice): readonly (readonly IslandScan[])[] {
  return islands
    .flat()
    .map((device) =>
      scans.filter((each) => each.device === device).flatMap((each) => (dice.chance(5) ? [each, each] : [each])),
    );
}

export const islandOf = (device: number) => islands.findIndex((devices) => devices.some((each) => each === device));
