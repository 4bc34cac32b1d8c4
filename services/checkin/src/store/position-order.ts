import { joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import type { PositionFilter } from "./position-filter.ts";

/** What tickets are sorted by. It may use `ticket`, `parent`, the ticket that it is an add-on of, and `presence`. */
interface Term {
  readonly by: Sql;
  readonly descending?: boolean;
  /** By default last, and first where the order is descending. */
  readonly nullsFirst?: boolean;
}

const shownName = sql`coalesce(ticket.sort_name, parent.sort_name)`;

/** The contract's names for what positions can be ordered by; `-` before one turns it around. */
const orderings: ReadonlyMap<string, readonly Term[]> = new Map(
  Object.entries({
    // The codes of nearly all shops have no small letters; the index has capitals alone.
    order__code: [{ by: sql`upper(ticket.order_code)` }, { by: sql`ticket.order_code` }],
    order__datetime: [{ by: sql`ticket.order_placed_at` }],
    order__email: [{ by: sql`lower(ticket.order_email)` }],
    positionid: [{ by: sql`ticket.positionid` }],
    attendee_name: [{ by: shownName, nullsFirst: true }],
    last_checked_in: [{ by: sql`presence.last_at`, nullsFirst: true }],
  }).flatMap(([name, terms]): [string, readonly Term[]][] => [
    [name, terms],
    [`-${name}`, terms.map(turned)],
  ]),
);

const byId: Term = { by: sql`ticket.id` };
const byName: readonly Term[] = [{ by: sql`ticket.sort_name` }, { by: sql`ticket.positionid` }, byId];

function turned({ by, descending = false, nullsFirst = descending }: Term): Term {
  return { by, descending: !descending, nullsFirst: !nullsFirst };
}

/** The requested order; else the ticket with exactly the searched code comes first, because clients take it for the scanned one. */
function termsOf({ search }: PositionFilter, ordering: readonly string[]): readonly Term[] {
  const wanted = [...new Set(ordering)].flatMap((name) => orderings.get(name) ?? []);
  if (wanted.length > 0) return [...wanted, turned(byId)];
  if (search.kind === "everything") return byName;
  return [{ by: sql`ticket.secret = ${search.codePrefix}`, descending: true }, ...byName];
}

function toSql({ by, descending = false, nullsFirst = descending }: Term): Sql {
  const direction = descending ? sql` desc` : sql``;
  return nullsFirst === descending
    ? sql`${by}${direction}`
    : sql`${by}${direction} nulls ${nullsFirst ? sql`first` : sql`last`}`;
}

/** Writes the order of tickets, which is total, or its reverse. */
export function orderOf(
  filter: PositionFilter,
  ordering: readonly string[],
  { isReversed }: { readonly isReversed: boolean },
): Sql {
  const terms = termsOf(filter, ordering);
  return joinSql((isReversed ? terms.map(turned) : terms).map(toSql), ", ");
}
