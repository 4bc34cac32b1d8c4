import { joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import type { PositionFilter } from "./position-filter.ts";

/** What tickets are sorted by. */
export interface Term {
  readonly by: Sql;
  /** What it uses beside `ticket`. */
  readonly from?: Joined;
  readonly descending?: boolean;
  /** By default last, and first where the order is descending. */
  readonly nullsFirst?: boolean;
  /** Some tickets have nothing there. */
  readonly isOptional?: boolean;
  readonly isInstant?: boolean;
}

/** The ticket that `ticket` is an add-on of, and what was scanned of it on the list. */
export type Joined = "parent" | "presence";

const shownName = sql`coalesce(ticket.sort_name, parent.sort_name)`;

/** The contract's names for what positions can be ordered by; `-` before one turns it around. */
const orderings: ReadonlyMap<string, readonly Term[]> = new Map(
  Object.entries<readonly Term[]>({
    // The codes of nearly all shops have no small letters; the index has capitals alone.
    order__code: [{ by: sql`upper(ticket.order_code)` }, { by: sql`ticket.order_code` }],
    order__datetime: [{ by: sql`ticket.order_placed_at`, isInstant: true }],
    // The index has the beginnings alone.
    order__email: [
      { by: sql`left(lower(ticket.order_email), 250)`, isOptional: true },
      { by: sql`lower(ticket.order_email)`, isOptional: true },
    ],
    positionid: [{ by: sql`ticket.positionid` }],
    attendee_name: [{ by: shownName, from: "parent", nullsFirst: true, isOptional: true }],
    last_checked_in: [
      { by: sql`presence.last_at`, from: "presence", nullsFirst: true, isOptional: true, isInstant: true },
    ],
  }).flatMap(([name, terms]): [string, readonly Term[]][] => [
    [name, terms],
    [`-${name}`, terms.map(turned)],
  ]),
);

const byId: Term = { by: sql`ticket.id` };
export const byName: readonly Term[] = [
  { by: sql`ticket.sort_name`, isOptional: true },
  { by: sql`ticket.positionid` },
  byId,
];

/** What equal tickets of a requested order are sorted by. */
const byNewest: Term = turned(byId);

export function turned({ descending = false, nullsFirst = descending, ...same }: Term): Term {
  return { ...same, descending: !descending, nullsFirst: !nullsFirst };
}

/** The known ones of the names that are asked for, each once. */
export function knownOrderings(ordering: readonly string[]): readonly string[] {
  return [...new Set(ordering)].filter((name) => orderings.has(name));
}

/** The requested order; else the ticket with exactly the searched code comes first, because clients take it for the scanned one. */
export function termsOf({ search }: PositionFilter, ordering: readonly string[]): readonly Term[] {
  const wanted = knownOrderings(ordering);
  if (wanted.length > 0) return requested(wanted);
  if (search.kind === "everything") return byName;
  return [{ by: sql`(ticket.secret = ${search.codePrefix})`, descending: true }, ...byName];
}

/** The terms of these orderings, which are known. */
export function requested(names: readonly string[]): readonly Term[] {
  return [...names.flatMap((name) => orderings.get(name) ?? []), byNewest];
}

function toSql({ by, descending = false, nullsFirst = descending }: Term): Sql {
  const direction = descending ? sql` desc` : sql``;
  return nullsFirst === descending
    ? sql`${by}${direction}`
    : sql`${by}${direction} nulls ${nullsFirst ? sql`first` : sql`last`}`;
}

/** Writes an order of tickets. */
export function orderBy(terms: readonly Term[]): Sql {
  return joinSql(terms.map(toSql), ", ");
}

/** What an order uses beside `ticket`. */
export function joinedIn(terms: readonly Term[]): readonly Joined[] {
  return terms.flatMap(({ from }) => from ?? []);
}
