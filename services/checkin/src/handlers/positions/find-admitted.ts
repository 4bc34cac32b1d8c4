import { cutPage } from "@tessera/kit/cut-page";
import { inSlices } from "@tessera/kit/in-slices";
import type { Queryable } from "@tessera/kit/pg/database";
import { asksForScans, countValues } from "../../domain/rules/ask-rules.ts";
import { admits, type RuleFacts } from "../../domain/rules/judge-rules.ts";
import type { Rules } from "../../domain/rules/read-rules.ts";
import type { Readers } from "../../readers.ts";
import { countPositions } from "../../store/count-positions.ts";
import { firstRuled, pageIds, type RuledTicket, sortRuled } from "../../store/listed-positions.ts";
import { isSearch, type PositionFilter } from "../../store/position-filter.ts";
import { type RuledDates, readDates, readRuledScans } from "../../store/rule-facts.ts";
import { searchPositions } from "../../store/search-positions.ts";

export interface AskedPage {
  readonly ordering: readonly string[];
  readonly page: number;
  readonly pageSize: number;
}

/** The ids of one page. */
export interface FoundIds {
  readonly ids: readonly number[];
  /** Of all pages. */
  readonly count: number;
  readonly page: number;
}

/** Where tickets would be scanned. */
export interface Scanned {
  readonly at: number;
  readonly gate: number | null;
  readonly rules: Rules;
  readonly readers: Pick<Readers, "zone">;
}

/**
 * Rules are judged ticket by ticket: of so many, which takes a moment. The tickets after them are shown unjudged, as for
 * clients that do not ask; only their scan is judged.
 */
const mostJudged = 20_000;

/** Of long rules fewer tickets are judged: so many values of rules are evaluated within a second. */
const mostEvaluated = 10_000_000;

/** Finds one page of the tickets that the rules of their list admit now. */
export async function findAdmitted(
  tx: Queryable,
  filter: PositionFilter,
  asked: AskedPage & Scanned,
): Promise<FoundIds> {
  const { ordering, rules } = asked;
  const scans = asksForScans(rules);
  const most = Math.min(mostJudged, Math.floor(mostEvaluated / countValues(rules)));
  if (isSearch(filter)) {
    const found = await sortRuled(tx, filter, { ordering, scans, ids: await searchPositions(tx, filter) });
    const admitted = await judge(tx, filter, { ...asked, tickets: found.slice(0, most) });
    const ids = [...admitted, ...found.slice(most).map(({ id }) => id)];
    const { page, limit, offset } = cutPage(asked, ids.length);
    return { ids: ids.slice(offset, offset + limit), count: ids.length, page };
  }
  const all = await countPositions(tx, filter);
  const tickets = await firstRuled(tx, filter, { ordering, scans, limit: most, offset: 0, count: all });
  const admitted = await judge(tx, filter, { ...asked, tickets });
  const count = admitted.length + all - tickets.length;
  const { page, limit, offset } = cutPage(asked, count);
  const ids = admitted.slice(offset, offset + limit);
  const unjudged = { limit: limit - ids.length, offset: tickets.length + Math.max(0, offset - admitted.length) };
  return { ids: [...ids, ...(await pageIds(tx, filter, { ordering, count: all, ...unjudged }))], count, page };
}

/** Scans are read of so many tickets at a time. */
const readAtOnce = 500;

/** Returns the ids of the tickets that the rules admit. Those without a scan of which rules see the same are judged once. */
async function judge(
  tx: Queryable,
  filter: PositionFilter,
  { tickets, at, gate, rules, readers }: Scanned & { readonly tickets: readonly RuledTicket[] },
): Promise<number[]> {
  const key = { ...filter, list: filter.list.id };
  const dates = await readDates(tx, key, [...new Set(tickets.flatMap(({ subevent }) => subevent ?? []))]);
  const zone = readers.zone(dates.timezone);
  const factsOf = ({ item, variation, subevent }: RuledTicket, scans: RuleFacts["scans"]): RuleFacts => {
    return { item, variation, gate, at, zone, scans, dates: datesOf(dates, subevent) };
  };
  const scanned = tickets.filter(({ isScanned }) => isScanned);
  const alike = tickets.filter(({ isScanned }) => !isScanned);
  const admitted = new Set<number>();
  for (let from = 0; from < scanned.length; from += readAtOnce) {
    const stretch = scanned.slice(from, from + readAtOnce);
    const ids = stretch.map(({ id }) => id);
    const scans = await readRuledScans(tx, key, ids);
    await inSlices(stretch, (ticket) => {
      if (admits(rules, factsOf(ticket, scans.get(ticket.id) ?? []))) admitted.add(ticket.id);
    });
  }
  const verdicts = new Map<string, boolean>();
  await inSlices(alike, (ticket) => {
    const kind = `${ticket.item}/${ticket.variation}/${ticket.subevent}`;
    const verdict = verdicts.get(kind) ?? admits(rules, factsOf(ticket, []));
    verdicts.set(kind, verdict);
    if (verdict) admitted.add(ticket.id);
  });
  return tickets.map(({ id }) => id).filter((id) => admitted.has(id));
}

function datesOf({ ofEvent, ofSubevents }: RuledDates, subevent: number | null): RuleFacts["dates"] {
  if (subevent === null) return ofEvent;
  return ofSubevents.get(subevent) ?? { from: null, to: null, admission: null };
}
