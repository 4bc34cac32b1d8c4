import { joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import type { PositionFilter } from "./position-filter.ts";

/** What tickets are sorted by. */
interface Term {
  readonly by: Sql;
  /** What it uses beside `ticket`. */
  readonly from?: Joined;
  readonly descending?: boolean;
  /** By default last, and first where the order is descending. */
  readonly nullsFirst?: boolean;
}

/** The ticket that `ticket` is an add-on of, and what was scanned of it on the list. */
export type Joined = "parent" | "presence";

const shownName = sql`coalesce(ticket.sort_name, parent.sort_name)`;

/** The contract's names for what positions can be ordered by; `-` before one turns it around. */
const orderings: ReadonlyMap<string, readonly Term[]> = new Map(
  Object.entries<readonly Term[]>({
    // The codes of nearly all shops have no small letters; the index has capitals alone.
    order__code: [{ by: sql`upper(ticket.order_code)` }, { by: sql`ticket.order_code` }],
    order__datetime: [{ by: sql`ticket.order_placed_at` }],
    order__email: [{ by: sql`lower(ticket.order_email)` }],
    positionid: [{ by: sql`ticket.positionid` }],
    attendee_name: [{ by: shownName, from: "parent", nullsFirst: true }],
    last_checked_in: [{ by: sql`presence.last_at`, from: "presence", nullsFirst: true }],
  }).flatMap(([name, terms]): [string, readonly Term[]][] => [
    [name, terms],
    [`-${name}`, terms.map(turned)],
  ]),
);

const byId: Term = { by: sql`ticket.id` };
const byName: readonly Term[] = [{ by: sql`ticket.sort_name` }, { by: sql`ticket.positionid` }, byId];

function turned({ descending = false, nullsFirst = descending, ...same }: Term): Term {
  return { ...same, descending: !descending, nullsFirst: !nullsFirst };
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

/** An order of tickets, which is total, or its reverse. */
export interface Order {
  readonly terms: Sql;
  readonly from: readonly Joined[];
}

export function orderOf(
  filter: PositionFilter,
  ordering: readonly string[],
  { isReversed }: { readonly isReversed: boolean },
): Order {
  const terms = termsOf(filter, ordering);
  return {
    terms: joinSql((isReversed ? terms.map(turned) : terms).map(toSql), ", "),
    from: [...new Set(terms.flatMap(({ from }) => from ?? []))],
  };
}
