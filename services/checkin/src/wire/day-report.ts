import type {
  ReportDayResponse,
  ReportedPlace,
  ReportedProduct,
  ReportedScans,
} from "@tessera/protos/gen/ticketing/checkin/v1/day_report";
import type { ItemNames } from "../domain/item-names.ts";
import { type Inside, type LocalDay, quarterLength } from "../domain/local-day.ts";
import type { ProductTally, ScanTally } from "../store/day-reports.ts";

export interface CountedDay {
  readonly day: LocalDay;
  readonly tallies: readonly ScanTally[];
  readonly products: readonly ProductTally[];
  readonly insideBefore: number;
  readonly inside: Inside;
}

export interface ReportNames {
  readonly items: ItemNames;
  readonly lists: ReadonlyMap<number, string>;
  readonly wallClock: (at: number) => string;
}

type Counted = Pick<ScanTally, "entries" | "exits" | "refusals">;

export function toDayReport(
  { day, tallies, products, insideBefore, inside }: CountedDay,
  names: ReportNames,
): Omit<ReportDayResponse, "timezone" | "eventName" | "locale" | "listName"> {
  const by = (what: ScanTally["by"]) => mostFirst(tallies.filter((tally) => tally.by === what));
  const quarters = new Map(by("quarter").map((tally) => [tally.quarter, tally]));
  const times = products.flatMap(({ firstAt, lastAt }) => [firstAt, lastAt]);
  return {
    date: day.date,
    quarters: inside.atEnds.map((atEnd, index) => {
      const at = day.since + index * quarterLength;
      return { at, local: names.wallClock(at), scans: toScans(quarters.get(at) ?? nothing), inside: atEnd };
    }),
    entered: products.reduce((sum, { entered }) => sum + entered, 0),
    firstAt: times.length === 0 ? undefined : times.reduce((one, other) => Math.min(one, other)),
    lastAt: times.length === 0 ? undefined : times.reduce((one, other) => Math.max(one, other)),
    insideBefore,
    peak: inside.peak,
    peakAt: inside.peakAt,
    products: mostFirst(products).map((product) => toProduct(product, names.items)),
    lists: by("list").map((tally) => toPlace(tally.list, tally, names.lists)),
    gates: by("gate").map((tally) => toPlace(tally.gate, tally)),
    devices: by("device").map((tally) => toPlace(tally.device, tally)),
    reasons: by("reason").flatMap(({ reason, refusals }) => (reason === null ? [] : [{ reason, count: refusals }])),
  };
}

const nothing: Counted = { entries: 0, exits: 0, refusals: 0 };

const toScans = ({ entries, exits, refusals }: Counted): ReportedScans => ({ entries, exits, refusals });

function toProduct({ item, variation, entered, ...counted }: ProductTally, names: ItemNames): ReportedProduct {
  return {
    item: item ?? undefined,
    itemName: (item === null ? null : names.ofItem(item)) ?? undefined,
    variation: variation ?? undefined,
    variationName: (item === null || variation === null ? null : names.ofVariation(item, variation)) ?? undefined,
    scans: toScans(counted),
    entered,
  };
}

function toPlace(id: number | null, counted: Counted, names?: ReadonlyMap<number, string>): ReportedPlace {
  return { id: id ?? undefined, name: id === null ? undefined : names?.get(id), scans: toScans(counted) };
}

const total = ({ entries, exits, refusals }: Counted) => entries + exits + refusals;

function mostFirst<C extends Counted>(counted: readonly C[]): C[] {
  return [...counted].sort((one, other) => total(other) - total(one));
}
