import type { Clock } from "@tessera/kit/clock";
import { cutPage } from "@tessera/kit/cut-page";
import type { Queryable } from "@tessera/kit/pg/database";
import type { PositionFilters } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import type { CheckinList } from "../../domain/list.ts";
import { judgeRules } from "../../domain/rules/judge-rules.ts";
import type { Rules } from "../../domain/rules/read-rules.ts";
import type { Readers } from "../../readers.ts";
import { countPositions, findPositionIds, pagePositions, readPositions } from "../../store/listed-positions.ts";
import type { PositionFilter } from "../../store/position-filter.ts";
import { readJudgedTickets } from "../../store/rule-facts.ts";
import type { TicketRead } from "../../store/ticket-rows.ts";

/** One page of the tickets that were found. */
interface FoundTickets {
  readonly tickets: readonly TicketRead[];
  /** Of all pages. */
  readonly count: number;
  readonly page: number;
}

interface Asked {
  readonly ordering: readonly string[];
  readonly page: number;
  readonly pageSize: number;
  /** Where the tickets that are asked for would be scanned now: those that the rules of the list refuse are left out. */
  readonly scanned: Scanned | undefined;
}

interface Scanned {
  readonly at: number;
  readonly gate: number | null;
  readonly rules: Rules;
  readonly readers: Pick<Readers, "zone">;
}

/**
 * Finds where the tickets that filters ask for would be scanned; undefined, unless only those are wanted that would be
 * admitted, and the list has rules: without them clients look for tickets that are refused, too.
 */
export function whereScanned(
  list: CheckinList,
  filters: PositionFilters | undefined,
  { clock, readers }: { readonly clock: Clock; readonly readers: Readers },
): Scanned | undefined {
  const rules = filters?.admissibleNow === true ? readers.rules(list.rules) : null;
  return rules === null ? undefined : { at: clock.now(), gate: filters?.gate ?? null, rules, readers };
}

/** Finds one page of tickets. */
export async function findTickets(db: Queryable, filter: PositionFilter, asked: Asked): Promise<FoundTickets> {
  if (asked.scanned !== undefined) return findAdmitted(db, filter, { ...asked, ...asked.scanned });
  const count = await countPositions(db, filter);
  const { page, limit, offset } = cutPage(asked, count);
  const tickets = count === 0 ? [] : await pagePositions(db, filter, { ordering: asked.ordering, limit, offset });
  return { tickets, count, page };
}

/**
 * Rules are judged ticket by ticket: of so many, which takes under a second. Those
 * behind them are shown unjudged, as they are to clients that do not ask; a scan
 * gets the answer then.
 */
const mostJudged = 20_000;

/** Read at a time. */
const judgedAtOnce = 1000;

async function findAdmitted(
  db: Queryable,
  filter: PositionFilter,
  asked: Omit<Asked, "scanned"> & Scanned,
): Promise<FoundTickets> {
  const { ordering, at, gate, rules, readers } = asked;
  const candidates = await findPositionIds(db, filter, { ordering, limit: mostJudged, offset: 0 });
  const admitted: number[] = [];
  for (let from = 0; from < candidates.length; from += judgedAtOnce) {
    const ids = candidates.slice(from, from + judgedAtOnce);
    for (const { id, timezone, ...facts } of await readJudgedTickets(db, { ...filter, list: filter.list.id }, ids)) {
      const verdict = judgeRules(rules, { ...facts, at, gate, zone: readers.zone(timezone) });
      if (verdict.outcome === "allowed") admitted.push(id);
    }
  }
  const unjudged =
    candidates.length < mostJudged ? 0 : Math.max(0, (await countPositions(db, filter)) - candidates.length);
  const count = admitted.length + unjudged;
  const { page, limit, offset } = cutPage(asked, count);
  const ids = admitted.slice(offset, offset + limit);
  const rest = limit - ids.length;
  if (unjudged > 0 && rest > 0) {
    const behind = mostJudged + Math.max(0, offset - admitted.length);
    ids.push(...(await findPositionIds(db, filter, { ordering, limit: rest, offset: behind })));
  }
  return { tickets: await readPositions(db, { ...filter, list: filter.list.id }, ids), count, page };
}
