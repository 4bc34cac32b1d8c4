import { admits, asksForScans, countValues, type Readers, type RuleFacts, type Rules } from "@tessera/admission";
import { cutPage } from "@tessera/kit/lists/cut-page";
import type { Queryable } from "@tessera/kit/pg/database";
import { inSlices } from "@tessera/kit/waiting/in-slices";
import { countPositions, findUnusable } from "../../store/count-positions.ts";
import { type RuledTicket, readRuled } from "../../store/listed-positions.ts";
import { isSearch, type PositionFilter } from "../../store/position-filter.ts";
import { pageIds, sortIds } from "../../store/position-pages.ts";
import {
  type RuledDates,
  readDates,
  readRuledScans,
  readSummedScans,
  type SummedScans,
} from "../../store/rule-facts.ts";
import { searchPositions } from "../../store/search-positions.ts";

export interface AskedPage {
  readonly ordering: readonly string[];
  readonly page: number;
  readonly pageSize: number;
}

export interface FoundIds {
  readonly ids: readonly number[];
  /** The number of tickets on all pages. */
  readonly count: number;
  readonly page: number;
}

/** The gate, time and list of the scan that is simulated. */
export interface Scanned {
  readonly at: number;
  readonly gate: number | null;
  readonly rules: Rules;
  readonly readers: Pick<Readers, "zone">;
}

/**
 * Rules are evaluated for each ticket, so only the first ones are judged: this many take a moment. Later tickets are
 * shown unjudged; their scan is judged all the same.
 */
const mostJudged = 20_000;

/** Fewer tickets are judged by long rules: this many values are evaluated within a second. */
const mostEvaluated = 10_000_000;

/** Finds one page of the tickets that the rules of their list admit now. */
export async function findAdmitted(
  tx: Queryable,
  wanted: PositionFilter,
  asked: AskedPage & Scanned,
): Promise<FoundIds> {
  const { ordering, rules } = asked;
  const filter = { ...wanted, unusable: await findUnusable(tx, wanted, asked.at) };
  const most = Math.min(mostJudged, Math.floor(mostEvaluated / countValues(rules)));
  if (isSearch(filter)) {
    const found = await sortIds(tx, filter, { ordering, ids: await searchPositions(tx, filter) });
    const tickets = await readRuled(tx, filter, found.slice(0, most));
    const ids = [...(await judge(tx, filter, { ...asked, tickets })), ...found.slice(most)];
    const { page, limit, offset } = cutPage(asked, ids.length);
    return { ids: ids.slice(offset, offset + limit), count: ids.length, page };
  }
  const all = await countPositions(tx, filter);
  const tickets = await readRuled(
    tx,
    filter,
    await pageIds(tx, filter, { ordering, limit: most, offset: 0, count: all }),
  );
  const admitted = await judge(tx, filter, { ...asked, tickets });
  const count = admitted.length + all - tickets.length;
  const { page, limit, offset } = cutPage(asked, count);
  const ids = admitted.slice(offset, offset + limit);
  const unjudged = { limit: limit - ids.length, offset: tickets.length + Math.max(0, offset - admitted.length) };
  return { ids: [...ids, ...(await pageIds(tx, filter, { ordering, count: all, ...unjudged }))], count, page };
}

const readAtOnce = 2000;

/** Returns the ids of the tickets that the rules admit. Tickets without scans and with equal facts are judged once. */
async function judge(
  tx: Queryable,
  filter: PositionFilter,
  { tickets, at, gate, rules, readers }: Scanned & { readonly tickets: readonly RuledTicket[] },
): Promise<number[]> {
  const key = { ...filter, list: filter.list.id };
  const dates = await readDates(tx, key, [...new Set(tickets.flatMap(({ subevent }) => subevent ?? []))]);
  const zone = readers.zone(dates.timezone);
  const isAdmitted = ({ item, variation, subevent }: RuledTicket, scans: RuleFacts["scans"]) =>
    admits(rules, { item, variation, gate, at, zone, scans, dates: datesOf(dates, subevent) });
  const ids = tickets.map(({ id }) => id);
  const sums = asksForScans(rules) ? await readSummedScans(tx, key, ids) : new Map<number, SummedScans>();
  const admitted = new Set<number>();
  const several = tickets.filter(({ id }) => (sums.get(id)?.count ?? 0) > 1);
  for (let from = 0; from < several.length; from += readAtOnce) {
    const batch = several.slice(from, from + readAtOnce);
    const scans = await readRuledScans(
      tx,
      key,
      batch.map(({ id }) => id),
    );
    await inSlices(batch, (ticket) => {
      if (isAdmitted(ticket, scans.get(ticket.id) ?? [])) admitted.add(ticket.id);
    });
  }
  const verdicts = new Map<string, boolean>();
  await inSlices(tickets, (ticket) => {
    const { id, item, variation, subevent } = ticket;
    const sum = sums.get(id);
    if (sum !== undefined) {
      if (sum.count === 1 && isAdmitted(ticket, [sum.newest])) admitted.add(id);
      return;
    }
    const kind = `${item}/${variation}/${subevent}`;
    const verdict = verdicts.get(kind) ?? isAdmitted(ticket, []);
    verdicts.set(kind, verdict);
    if (verdict) admitted.add(id);
  });
  return ids.filter((id) => admitted.has(id));
}

function datesOf({ ofEvent, ofSubevents }: RuledDates, subevent: number | null): RuleFacts["dates"] {
  if (subevent === null) return ofEvent;
  return ofSubevents.get(subevent) ?? { from: null, to: null, admission: null };
}
