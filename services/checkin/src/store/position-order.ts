import { type Term, turned } from "@tessera/kit/pg/page";
import { joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import { positionById } from "./listed-positions.ts";
import type { PositionFilter } from "./position-filter.ts";
import { presenceByKey } from "./presence-by-key.ts";

/** Tables that an order may join: the base ticket of `ticket`, and its presence on the list. */
type Joined = "parent" | "presence";

export interface PositionTerm extends Term {
  readonly uses?: Joined | undefined;
}

const shownName = sql`coalesce(ticket.sort_name, parent.sort_name)`;

/** The API's sort keys of positions; a `-` before a key reverses it. */
const orderings: ReadonlyMap<string, readonly PositionTerm[]> = new Map(
  Object.entries<readonly PositionTerm[]>({
    // Order codes of nearly all shops have no lower-case letters; the index has upper case.
    order__code: [{ by: sql`upper(ticket.order_code)` }, { by: sql`ticket.order_code` }],
    order__datetime: [{ by: sql`ticket.order_placed_at`, isInstant: true }],
    // The index has prefixes.
    order__email: [
      { by: sql`left(lower(ticket.order_email), 250)`, isOptional: true },
      { by: sql`lower(ticket.order_email)`, isOptional: true },
    ],
    positionid: [{ by: sql`ticket.positionid` }],
    attendee_name: [{ by: shownName, uses: "parent", nullsFirst: true, isOptional: true }],
    last_checked_in: [
      { by: sql`presence.last_at`, uses: "presence", nullsFirst: true, isOptional: true, isInstant: true },
    ],
  }).flatMap(([name, terms]): [string, readonly PositionTerm[]][] => [
    [name, terms],
    [`-${name}`, terms.map((term) => ({ ...term, ...turned(term) }))],
  ]),
);

const byName: readonly PositionTerm[] = [
  { by: sql`ticket.sort_name`, isOptional: true },
  { by: sql`ticket.positionid` },
  { by: sql`ticket.id` },
];

/** The tie-breaker. */
const byNewest: PositionTerm = { by: sql`ticket.id`, descending: true };

/** The known ones of the requested sort keys, each once. */
export function knownOrderings(ordering: readonly string[]): readonly string[] {
  return [...new Set(ordering)].filter((name) => orderings.has(name));
}

/**
 * The requested order. By default a ticket with exactly the searched code comes first: clients take it for the scanned
 * one.
 */
export function termsOf({ search }: PositionFilter, ordering: readonly string[]): readonly PositionTerm[] {
  const wanted = knownOrderings(ordering);
  if (wanted.length > 0) return [...wanted.flatMap((name) => orderings.get(name) ?? []), byNewest];
  if (search.kind === "everything") return byName;
  return [{ by: sql`(ticket.secret = ${search.codePrefix})`, descending: true }, ...byName];
}

const joins: Readonly<Record<Joined, (filter: PositionFilter) => Sql>> = {
  parent: (filter) => sql`
          left join lateral (${positionById({ ...filter, id: sql`ticket.addon_to` })}) as parent on true`,
  presence: ({ organizer, event, list }) => sql`
          left join lateral (${presenceByKey(sql`ticket.id, ${list.id}, ${event}, ${organizer}`)}) as presence on true`,
};

export function joinToTicket(filter: PositionFilter, names: readonly Joined[]): Sql {
  return joinSql(
    [...new Set(names)].map((name) => joins[name](filter)),
    "",
  );
}

/** Joins only tables that are used: even a join that the planner removes would prevent an index-only scan. */
export function joinUsed(filter: PositionFilter, terms: readonly PositionTerm[]): Sql {
  return joinToTicket(
    filter,
    terms.flatMap(({ uses }) => uses ?? []),
  );
}
