import type {
  ReportDayResponse,
  ReportedPlace,
  ReportedScans,
} from "@tessera/protos/gen/ticketing/checkin/v1/day_report";
import { type Cell, formatInstant, writeCsvLine } from "@tessera/values";

export interface ReportFilter {
  readonly list: number | undefined;
  readonly subevent: number | undefined;
}

export function presentReport(found: ReportDayResponse, { list, subevent }: ReportFilter) {
  const { entries, exits, refusals } = found.quarters.reduce(
    (sum, { scans }) => {
      const counted = scansOf(scans);
      return {
        entries: sum.entries + counted.entries,
        exits: sum.exits + counted.exits,
        refusals: sum.refusals + counted.refusals,
      };
    },
    { entries: 0, exits: 0, refusals: 0 },
  );
  return {
    date: found.date,
    timezone: found.timezone,
    list: list ?? null,
    subevent: subevent ?? null,
    totals: { scans: entries + exits + refusals, entries, exits, refusals, entered: found.entered },
    first_scan: found.firstAt === undefined ? null : formatInstant(found.firstAt),
    last_scan: found.lastAt === undefined ? null : formatInstant(found.lastAt),
    inside: {
      at_begin: found.insideBefore,
      at_end: found.quarters.at(-1)?.inside ?? found.insideBefore,
      peak: found.peak,
      peak_at: formatInstant(found.peakAt),
    },
    quarters: found.quarters.map(({ at, local, scans, inside }) => ({
      start: formatInstant(at),
      local,
      ...scansOf(scans),
      inside,
    })),
    products: found.products.map(({ item, itemName, variation, variationName, scans, entered }) => ({
      item: item ?? null,
      item_name: itemName ?? null,
      variation: variation ?? null,
      variation_name: variationName ?? null,
      ...scansOf(scans),
      entered,
    })),
    lists: found.lists.map((place) => ({
      list: place.id ?? 0,
      list_name: place.name ?? null,
      ...scansOf(place.scans),
    })),
    gates: found.gates.map(({ id, name, scans }) => ({ gate: id ?? null, gate_name: name ?? null, ...scansOf(scans) })),
    devices: found.devices.map(({ id, name, scans }) => ({
      device: id ?? null,
      device_name: name ?? null,
      ...scansOf(scans),
    })),
    reasons: found.reasons,
  };
}

export type ShownReport = ReturnType<typeof presentReport>;

/** Zeros are not sent. */
function scansOf(scans: ReportedPlace["scans"]): ReportedScans {
  if (scans === undefined) throw new Error("checkin answered without scans");
  const { entries, exits, refusals } = scans;
  return { entries, exits, refusals };
}

const columns = ["start", "local", "entries", "exits", "refusals", "inside"] as const;

/** The quarters as a table. */
export function writeQuarters({ quarters }: ShownReport): string {
  const rows = quarters.map((quarter) => columns.map((column): Cell => quarter[column]));
  return [columns, ...rows].map(writeCsvLine).join("");
}
