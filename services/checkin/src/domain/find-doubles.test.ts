import { afterScan, neverScanned, type ScanType } from "@tessera/admission";
import { isOutOfOrder, mayEnter } from "@tessera/admission/testing/decisions";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { minute, noon } from "../testing/facts.ts";
import { findDoubles, type StoredScan } from "./find-doubles.ts";

const second = 1_000_000;
const once = { allowMultipleEntries: false, allowEntryAfterExit: true };
const ever = { allowMultipleEntries: false, allowEntryAfterExit: false };
const often = { allowMultipleEntries: true, allowEntryAfterExit: true };

/** A scan some minutes after noon, which came here an hour later. */
const scanned = (at: number, changes: Partial<StoredScan> = {}): StoredScan => ({
  id: at + 1,
  type: "entry",
  at: noon + at * minute,
  createdAt: noon + (60 + at) * minute,
  device: null,
  deviceId: 1,
  gate: null,
  autoCheckedIn: false,
  overruled: null,
  isOutOfOrder: false,
  isAnnulled: false,
  ...changes,
});

/** A later entry of another device, which was overruled as the second one. */
const again = (changes: Partial<StoredScan> = {}) =>
  scanned(5, { deviceId: 2, overruled: "already_redeemed", ...changes });

const leaving = { type: "exit" } as const;

/** By their ids: the later scan, the earlier one, the reasons. */
const found = (scans: readonly StoredScan[], list = once) =>
  findDoubles(scans, list).map(({ scan, earlier, reasons }) => [scan.id, earlier?.id ?? null, ...reasons]);

const asDouble = [[6, 1, "already_redeemed"]];

describe("an entry is a double", () => {
  it.each<[string, StoredScan[]]>([
    ["where its clock was ahead", [scanned(0, { createdAt: noon }), again({ createdAt: noon + minute })]],
    ["of devices that are known elsewhere", [scanned(0, { deviceId: null, device: 7 }), again()]],
  ])("[F3.2] %s", (_name, scans) => {
    expect(found(scans)).toEqual(asDouble);
  });
});

describe("an entry is no double", () => {
  it.each<[string, StoredScan[]]>([
    ["where the list allowed it when it came", [scanned(0), again({ overruled: null })]],
    [
      "of a gate that was told of the first one",
      [scanned(0, { createdAt: noon }), again({ createdAt: noon + 5 * minute + 10 * second })],
    ],
  ])("[F3.3] %s", (_name, scans) => {
    expect(found(scans)).toEqual([]);
  });
});

describe("what else force overruled", () => {
  const canceled = { overruled: "canceled" } as const;

  it("[F3.4] is a double by itself, where the entry was made without a network", () => {
    expect(found([scanned(0, canceled)])).toEqual([[1, null, "canceled"]]);
    expect(found([scanned(0, canceled)], often)).toEqual([[1, null, "canceled"]]);
    expect(found([scanned(0, { ...canceled, createdAt: noon + 10 * second })])).toEqual([]);
    expect(found([scanned(0, { ...canceled, ...leaving })])).toEqual([]);
  });

  it("[C10.4] is none where the list was full", () => {
    const full = { overruled: "limit" };
    expect(found([scanned(0, full)])).toEqual([]);
    expect(found([scanned(0), again(full)])).toEqual([]);
  });

  it("[F3.4] comes once of a device, and again of another one or for another reason", () => {
    expect(found([scanned(0, canceled), scanned(1, canceled), scanned(2, { overruled: "blocked" })], often)).toEqual([
      [1, null, "canceled"],
      [3, null, "blocked"],
    ]);
    expect(found([scanned(0, canceled), scanned(1, { ...canceled, deviceId: 2 })])).toEqual([
      [1, null, "canceled"],
      [2, 1, "canceled", "already_redeemed"],
    ]);
  });
});

/** What comes here, in the order of coming. */
interface Arrival {
  readonly type: ScanType;
  /** In steps of four seconds. */
  readonly at: number;
  readonly delay: number;
  readonly deviceId: number | null;
  readonly force: boolean;
  readonly overruled: string | null;
  /** Taken back when so many more have come; null: never. */
  readonly annulledAfter: number | null;
}

const arrivals = fc.array(
  fc.record<Arrival>({
    type: fc.constantFrom("entry", "entry", "exit"),
    at: fc.nat({ max: 12 }),
    delay: fc.constantFrom(0, 1, 2, 3, 40),
    deviceId: fc.constantFrom(null, 1, 2, 3),
    force: fc.boolean(),
    overruled: fc.constantFrom(null, null, null, "canceled"),
    annulledAfter: fc.option(fc.nat({ max: 3 }), { freq: 3 }),
  }),
  { maxLength: 9 },
);

const byTime = (one: StoredScan, other: StoredScan) => one.at - other.at || one.id - other.id;

/** Decides and stores what comes, as the gates' service does. */
function store(coming: readonly Arrival[], list: typeof once): StoredScan[] {
  const stored: StoredScan[] = [];
  const inOrder = coming.toSorted((one, other) => one.at + one.delay - (other.at + other.delay));
  const takenBack = new Map<number, number>();
  for (const [index, { type, at, delay, deviceId, force, overruled, annulledAfter }] of inOrder.entries()) {
    const scan = { type, at: noon + at * 4 * second };
    const presence = stored
      .filter((each) => !each.isAnnulled)
      .toSorted(byTime)
      .reduce(afterScan, neverScanned);
    const usedUp = type === "entry" && !mayEnter(presence, list);
    if (force || !(usedUp || overruled !== null)) {
      stored.push({
        ...scanned(0),
        ...scan,
        id: index + 1,
        createdAt: noon + (at + delay) * 4 * second,
        deviceId,
        overruled: overruled ?? (usedUp ? "already_redeemed" : null),
        isOutOfOrder: isOutOfOrder(presence, scan, list),
      });
      if (annulledAfter !== null) takenBack.set(index + 1, index + annulledAfter);
    }
    for (const [order, each] of stored.entries())
      if ((takenBack.get(each.id) ?? Number.POSITIVE_INFINITY) <= index) stored[order] = { ...each, isAnnulled: true };
  }
  // The database reads no entry that was taken back.
  return stored.filter((each) => each.type === "exit" || !each.isAnnulled).toSorted(byTime);
}

/** The definition, word by word, without marks. */
function model(scans: readonly StoredScan[], list: typeof once) {
  return scans.flatMap((scan, index) => {
    if (scan.type === "exit") return [];
    const before = scans.slice(0, index);
    const left = list.allowEntryAfterExit
      ? before.findLastIndex((each) => each.type === "exit" && !each.isAnnulled)
      : -1;
    const inside = before.slice(left + 1).filter((each) => each.type === "entry");
    const isOffline = Math.abs(scan.createdAt - scan.at) > 10 * second;
    const isKnown = (each: StoredScan) => each.deviceId === scan.deviceId || (!isOffline && each.createdAt <= scan.at);
    const isSecond = !list.allowMultipleEntries && inside.length > 0 && !inside.some(isKnown);
    const isRepeated = inside.some((each) => each.deviceId === scan.deviceId && each.overruled === scan.overruled);
    const isObjected = scan.overruled === "canceled" && isOffline && !isRepeated;
    const reasons = [...(isObjected ? ["canceled"] : []), ...(isSecond ? ["already_redeemed"] : [])];
    return reasons.length === 0 ? [] : [[scan.id, isSecond ? inside.at(-1)?.id : null, ...reasons]];
  });
}

it("[F3.2, F3.3, F3.4] the doubles are those of the definition, in whatever order scans come and are taken back", () => {
  let doubles = 0;
  fc.assert(
    fc.property(arrivals, fc.constantFrom(once, ever, often), (coming, list) => {
      const scans = store(coming, list);
      const expected = model(scans, list);
      doubles += expected.length;
      expect(found(scans, list)).toEqual(expected);
    }),
    { numRuns: 5000 },
  );
  expect(doubles).toBeGreaterThan(500);
});

it("[F3.5] two scans make the same double in whatever order they come", () => {
  const apart = fc.record({
    at: fc.nat({ max: 100 }),
    deviceId: fc.nat({ max: 3 }),
    type: fc.constantFrom<ScanType>("entry", "exit"),
  });
  fc.assert(
    fc.property(
      fc.array(apart, { maxLength: 8 }),
      fc.constantFrom(once, ever),
      fc.infiniteStream(fc.nat()),
      (made, list, order) => {
        const distinct = [...new Map(made.map((each) => [each.at, each])).values()];
        // All come an hour later, one by one: only their order differs.
        const foundBy = (keys: number[]) =>
          findDoubles(
            store(
              distinct
                .map((each, index) => ({ ...each, key: keys[index] ?? 0 }))
                .toSorted((one, other) => one.key - other.key)
                .map(({ at, deviceId, type }, index) => ({
                  ...{
                    type,
                    at,
                    deviceId,
                    delay: 1000 + index - at,
                    force: true,
                    overruled: null,
                    annulledAfter: null,
                  },
                })),
              list,
            ),
            list,
          ).map(({ scan, earlier, reasons }) => [scan.at, earlier?.at, reasons]);
        const keys = [...order.take(distinct.length)];
        expect(foundBy(keys)).toEqual(foundBy(distinct.map(({ at }) => at)));
      },
    ),
    { numRuns: 1000 },
  );
});
