import type { StoredScan } from "./check-scans.ts";

/** A ticket as check-in stores it in the end. */
export interface StoredPosition {
  readonly id: number;
  readonly item: number;
  readonly variation: number | null;
  readonly canceled: boolean;
  readonly orderStatus: string;
  readonly validIfPending: boolean;
}

/** What a list's `status/` shows. */
export interface ShownStatus {
  readonly position_count: number;
  readonly checkin_count: number;
  readonly inside_count: number;
  readonly items: readonly {
    readonly id: number;
    readonly position_count: number;
    readonly checkin_count: number;
    readonly variations: readonly {
      readonly id: number;
      readonly position_count: number;
      readonly checkin_count: number;
    }[];
  }[];
}

export interface CountEvidence {
  readonly list: { readonly id: number; readonly includePending: boolean };
  readonly shown: ShownStatus;
  readonly positions: readonly StoredPosition[];
  readonly scans: readonly StoredScan[];
}

/** Recounts a list of all products from tickets and scans, and returns where its status differs. */
export function checkCounts({ list, shown, positions, scans }: CountEvidence): string[] {
  const scansOf = Map.groupBy(
    scans.filter((scan) => scan.successful && scan.list === list.id),
    ({ position }) => position,
  );
  const counted = positions.filter((position) => counts(position, list));
  const hasEntered = ({ id }: StoredPosition) => (scansOf.get(id) ?? []).some(({ type }) => type === "entry");
  const isInside = ({ id }: StoredPosition) => {
    const latest = (scansOf.get(id) ?? []).toSorted((a, b) => a.at - b.at || a.id - b.id).at(-1);
    return latest?.type === "entry";
  };
  const of = (some: readonly StoredPosition[]) => ({
    position_count: some.length,
    checkin_count: some.filter(hasEntered).length,
  });
  const compare = (what: string, value: number, recounted: number) =>
    value === recounted ? [] : [`list ${list.id} shows ${what} ${value}, a recount gives ${recounted}`];
  const compareCounts = (what: string, value: ReturnType<typeof of>, some: readonly StoredPosition[]) =>
    (["position_count", "checkin_count"] as const).flatMap((name) =>
      compare(`${what}${name}`, value[name], of(some)[name]),
    );
  return [
    ...compareCounts("", shown, counted),
    ...compare("inside_count", shown.inside_count, counted.filter(isInside).length),
    ...shown.items.flatMap((item) => {
      const ofItem = counted.filter((position) => position.item === item.id);
      return [
        ...compareCounts(`item ${item.id} `, item, ofItem),
        ...item.variations.flatMap((variation) =>
          compareCounts(
            `variation ${variation.id} `,
            variation,
            ofItem.filter((position) => position.variation === variation.id),
          ),
        ),
      ];
    }),
  ];
}

function counts(position: StoredPosition, list: CountEvidence["list"]): boolean {
  if (position.canceled) return false;
  if (position.orderStatus === "paid") return true;
  return position.orderStatus === "pending" && (position.validIfPending || list.includePending);
}
