import { seededNumbers } from "@tessera/testkit/seeded-numbers";
import { describe, expect, it } from "vitest";
import type { AlarmSubject, HeldAlarm } from "./alarm.ts";
import { compareAlarms, decideAlarms } from "./decide-alarms.ts";
import { type GateCell, GateScans, toCell } from "./gate-cells.ts";
import type { QueueSample } from "./queue-alarms.ts";

/** The beginning of a minute. */
const now = 1_800_000_000;

interface Scanned {
  readonly gate?: number | null;
  readonly device?: number | null;
  readonly refused?: boolean;
  /** In seconds before now. */
  readonly stored?: number;
  /** How much later it is dated than it came. */
  readonly ahead?: number;
}

/** A scan that was made so many seconds before now. */
function scan(ago: number, { gate = 1, device = 7, refused = false, stored = ago, ahead = 0 }: Scanned = {}): GateCell {
  return {
    ...{ storedIn: toCell(now - stored), madeIn: toCell(now - ago), gate, device, scans: 1, refused: refused ? 1 : 0 },
    ...{ ahead: ahead > 60 ? 1 : 0, secondsAhead: ahead, lastAt: (now - ago) * 1_000_000 },
  };
}

/** Scans from one time before now to another, one each so many seconds. */
function scans(from: number, to: number, every: number, what: Scanned = {}): GateCell[] {
  return Array.from({ length: Math.floor((from - to) / every) }, (_, index) => scan(from - index * every, what));
}

function decide(cells: readonly GateCell[], open: readonly AlarmSubject[] = [], at = now): HeldAlarm[] {
  return decideAlarms({ now: at, cells, queues: [], limits: [], open });
}

const kinds = (alarms: readonly AlarmSubject[]) => alarms.map(({ kind, gate, device }) => [kind, gate ?? device]);

describe("gate_silent", () => {
  it("[B4.1] rings for a gate that was busy and has no scan for a minute", () => {
    const cells = scans(900, 70, 3);
    expect(decide(cells)).toMatchObject([{ kind: "gate_silent", gate: 1, device: null, list: null }]);
    expect(decide(cells)[0]?.since).toBe(Math.max(...cells.map(({ lastAt }) => lastAt)));
    expect(kinds(decide([...cells, scan(50)]))).toEqual([]);
  });

  it("[B4.1] waits at a slow gate for twenty times its usual gap", () => {
    const slow = (silence: number) => scans(silence + 300, silence, 25);
    expect(kinds(decide(slow(470)))).toEqual([]);
    expect(kinds(decide(slow(480)))).toEqual([["gate_silent", 1]]);
  });

  it("[B4.1] does not ring for a gate with few scans, or for scans of less than three minutes", () => {
    expect(kinds(decide(scans(400, 90, 40)))).toEqual([]);
    expect(kinds(decide(scans(350, 300, 2)))).toEqual([]);
  });

  it("[B4.1] ends 15 minutes after the last scan: the gate is closed", () => {
    expect(kinds(decide(scans(1190, 890, 5)))).toEqual([["gate_silent", 1]]);
    expect(kinds(decide(scans(1190, 910, 5)))).toEqual([]);
  });

  it("[B4.1] knows late uploads by the time when they were made", () => {
    const cells = scans(900, 130, 3);
    expect(kinds(decide(cells))).toEqual([["gate_silent", 1]]);
    const uploaded = scans(130, 10, 6, { stored: 1 });
    expect(kinds(decide([...cells, ...uploaded]))).toEqual([]);
    // Scans of yesterday that come now.
    expect(kinds(decide(scans(86_400, 86_000, 5, { stored: 1 })))).toEqual([]);
  });

  it("[B4.1] takes scans that name no gate as one gate", () => {
    expect(decide(scans(900, 70, 3, { gate: null, device: null }))).toMatchObject([
      { kind: "gate_silent", gate: null, device: null },
    ]);
  });

  it("[B4.6] does not ring for a gate that its devices have left", () => {
    const moved = [...scans(900, 200, 6), ...scans(195, 0, 6, { gate: 2 })];
    expect(kinds(decide(moved))).toEqual([]);
    expect(kinds(decide([...moved, ...scans(900, 200, 6, { device: 8 })]))).toEqual([["gate_silent", 1]]);
  });
});

describe("rate_fell", () => {
  const steady = (rate: number) => scans(1080, 180, 60 / rate);
  const lately = (rate: number) => scans(180, 0, 60 / rate);
  /** Ten seconds after the minute, for scans that come a little late. */
  const at = now + 10;

  it("[B4.2] rings where the last three minutes have half of what was usual", () => {
    expect(decide([...steady(30), ...lately(12)], [], at)).toMatchObject([
      { kind: "rate_fell", gate: 1, measured: 12, usual: 30 },
    ]);
    expect(decide([...steady(30), ...lately(20)], [], at)).toEqual([]);
  });

  it("[B4.2] does not ring where few visitors come, or where it may be chance", () => {
    expect(decide([...steady(5), ...lately(1)], [], at)).toEqual([]);
    expect(decide([...steady(10), ...lately(5)], [], at)).toEqual([]);
    expect(kinds(decide([...steady(10), ...lately(1)], [], at))).toEqual([["rate_fell", 1]]);
  });

  it("[B4.2] rings where a gate falls alone, and not where all do: visitors become fewer", () => {
    const gates = (rates: readonly number[]) =>
      rates.flatMap((rate, gate) => [
        ...scans(1080, 180, 2, { gate, device: gate }),
        ...scans(180, 0, 60 / rate, { gate, device: gate }),
      ]);
    expect(kinds(decide(gates([30, 30, 12]), [], at))).toEqual([["rate_fell", 2]]);
    expect(decide(gates([12, 12, 12]), [], at)).toEqual([]);
    const none = gates([1, 1, 1]).filter(({ madeIn }) => madeIn < now - 180);
    expect(kinds(decide(none, [], at))).toEqual([0, 1, 2].map((gate) => ["gate_silent", gate]));
    expect(kinds(decide(gates([15, 15, 3]), [], at))).toEqual([["rate_fell", 2]]);
  });

  it("[B4.2] does not ring in the first minutes of a gate, whatever was uploaded before", () => {
    const rush = [...scans(300, 180, 1), ...lately(6)];
    expect(decide(rush, [], at)).toEqual([]);
    expect(decide([...scans(90_000, 80_000, 100, { stored: 1 }), ...rush], [], at)).toEqual([]);
  });

  it("[B4.2] holds on until three quarters of the visitors are back", () => {
    const cells = [...steady(30), ...lately(20)];
    const open = decide([...steady(30), ...lately(12)], [], at);
    expect(kinds(decide(cells, open, at))).toEqual([["rate_fell", 1]]);
    expect(decide([...steady(30), ...lately(24)], open, at)).toEqual([]);
  });

  it("[B4.2] is not told of a gate that is silent", () => {
    expect(kinds(decide(steady(30), [], at))).toEqual([["gate_silent", 1]]);
  });

  it("[B4.1, B4.2, B4.3] rings seldom while visitors come by chance, and become fewer", () => {
    const next = seededNumbers(7);
    const begin = now - 5400;
    const cells: GateCell[] = [];
    // Ten gates: 30 visitors a minute each, less by half every 15 minutes, and one of twenty refused.
    for (let second = 0; second < 5400; second += 1)
      for (let gate = 0; gate < 10; gate += 1)
        if (next() < 0.5 * 2 ** (-second / 900))
          cells.push(scan(5400 - second, { gate, device: gate, refused: next() < 0.05 }));
    let open: HeldAlarm[] = [];
    const raised: HeldAlarm[] = [];
    for (let time = begin + 1200; time < now; time += 10) {
      const known = cells.filter(({ lastAt }) => lastAt <= time * 1_000_000 && lastAt > (time - 1200) * 1_000_000);
      const held = decide(known, open, time);
      raised.push(...compareAlarms(held, open).raised);
      open = held;
    }
    expect(raised.length).toBeLessThanOrEqual(3);
  });

  it("[B4.2] knows no time of day: the night of the clock change is like any other", () => {
    // 25 October 2026, 01:00 UTC: in Berlin it is 2 o'clock again.
    const change = Date.UTC(2026, 9, 25, 1) / 1000;
    const shift = change - now + 120;
    const shifted = [...steady(30), ...lately(12)].map((cell) => ({
      ...cell,
      ...{ storedIn: cell.storedIn + shift, madeIn: cell.madeIn + shift, lastAt: cell.lastAt + shift * 1_000_000 },
    }));
    expect(decide(shifted, [], at + shift)).toEqual(decide([...steady(30), ...lately(12)], [], at));
  });
});

describe("refusals_rose", () => {
  const before = [...scans(1000, 120, 10), ...scans(1000, 120, 200, { refused: true })];
  const lately = (all: number, refused: number) => [
    ...scans(100, 0, 100 / (all - refused)),
    ...scans(100, 0, 100 / refused, { refused: true }),
  ];

  it("[B4.3] rings where a fifth of the scans is refused, and that is unusual", () => {
    expect(decide([...before, ...lately(20, 6)])).toMatchObject([
      { kind: "refusals_rose", gate: 1, device: null, measured: 0.3 },
    ]);
    expect(kinds(decide([...before, ...lately(30, 5)]))).toEqual([]);
    expect(kinds(decide([...before, ...lately(8, 6)]))).toEqual([]);
    // One of fifty is usual here, so that six of thirty seem many, and come by chance all the same.
    const seldom = [...scans(1000, 120, 4), ...scans(1000, 120, 220, { refused: true })];
    expect(kinds(decide([...seldom, ...lately(30, 6)]))).toEqual([]);
    expect(kinds(decide([...seldom, ...lately(30, 8)]))).toEqual([["refusals_rose", 1]]);
    expect(kinds(decide([...before, ...lately(20, 4)]))).toEqual([]);
  });

  it("[B4.3] does not ring where so many are refused all the time", () => {
    const usual = [...before, ...scans(1000, 120, 60, { refused: true })];
    expect(kinds(decide([...usual, ...lately(20, 6)]))).toEqual([]);
  });

  it("[B4.3] rings in the first minutes of a gate: it may have the wrong list", () => {
    expect(kinds(decide(lately(20, 18)))).toEqual([["refusals_rose", 1]]);
  });

  it("[B4.3] holds on while 15 percent are refused, although that becomes usual", () => {
    const open = decide([...before, ...lately(20, 6)]);
    const usual = [...before, ...scans(1000, 120, 20, { refused: true })];
    expect(kinds(decide([...usual, ...lately(20, 4)], open))).toEqual([["refusals_rose", 1]]);
    expect(kinds(decide([...usual, ...lately(20, 2)], open))).toEqual([]);
    expect(decide([...usual, ...lately(1, 0)], open)).toEqual([]);
  });
});

describe("clock_off", () => {
  it("[B4.4] rings for a device whose scans are dated in the future", () => {
    const cells = [1, 2, 3].map((ago) => scan(ago, { ahead: 290 + ago }));
    expect(decide(cells)).toMatchObject([{ kind: "clock_off", gate: null, device: 7, measured: 293 }]);
    expect(decide(cells.slice(1))).toEqual([]);
    expect(decide(cells.map((cell) => ({ ...cell, device: null })))).toEqual([]);
  });

  it("[B4.4] ends five minutes after the last such scan", () => {
    const open = decide([1, 2, 3].map((ago) => scan(ago, { ahead: 100 })));
    expect(kinds(decide([scan(280, { ahead: 100 })], open))).toEqual([["clock_off", 7]]);
    expect(decide([scan(320, { ahead: 100 })], open)).toEqual([]);
  });

  it("[B4.4] is one alarm, although the device moves to another gate", () => {
    const cells = [1, 2, 3].map((ago) => scan(ago, { gate: ago, ahead: 100 }));
    expect(kinds(decide(cells))).toEqual([["clock_off", 7]]);
  });
});

describe("queue_grows", () => {
  const told = (...queues: readonly (readonly [ago: number, queue: number])[]): QueueSample[] =>
    queues.map(([ago, queue]) => ({ device: 7, toldAt: now - ago, queue }));
  const decideOf = (queues: readonly QueueSample[], open: readonly AlarmSubject[] = []) =>
    decideAlarms({ now, cells: [], queues, limits: [], open });

  it("[B4.5] rings for a queue that is larger than a minute before", () => {
    expect(decideOf(told([70, 8], [60, 9], [0, 12]))).toMatchObject([
      { kind: "queue_grows", device: 7, gate: null, measured: 12, usual: 9 },
    ]);
    expect(decideOf(told([50, 1], [0, 12]))).toEqual([]);
    expect(decideOf(told([60, 2], [0, 4]))).toEqual([]);
    expect(decideOf(told([60, 40], [0, 30]))).toEqual([]);
  });

  it("[B4.5] rings for a queue that is large for two minutes", () => {
    expect(kinds(decideOf(told([130, 90], [60, 80], [0, 60])))).toEqual([["queue_grows", 7]]);
    expect(decideOf(told([130, 90], [60, 50], [0, 50]))).toEqual([]);
    expect(decideOf(told([110, 90], [0, 60]))).toEqual([]);
  });

  it("[B4.5] ends where the device has no queue, or tells nothing for five minutes", () => {
    const open = decideOf(told([60, 9], [0, 12]));
    expect(kinds(decideOf(told([290, 1]), open))).toEqual([["queue_grows", 7]]);
    expect(decideOf(told([301, 1]), open)).toEqual([]);
    expect(decideOf([], open)).toEqual([]);
  });
});

describe("what is open", () => {
  const alarm: HeldAlarm = {
    ...{ kind: "gate_silent", gate: 1, device: null, list: null, since: 1, measured: null, usual: null },
  };

  it("[B4.7] is raised once and ended once", () => {
    const stored = { ...alarm, id: 5 };
    expect(compareAlarms([alarm], [])).toEqual({ raised: [alarm], ended: [] });
    expect(compareAlarms([alarm], [stored])).toEqual({ raised: [], ended: [] });
    expect(compareAlarms([], [stored])).toEqual({ raised: [], ended: [stored] });
    expect(compareAlarms([{ ...alarm, gate: null }], [stored])).toMatchObject({
      raised: [{ gate: null }],
      ended: [stored],
    });
  });

  it("[B4.7] are at most 200 of an event, and those stay that are open", () => {
    const silent = Array.from({ length: 250 }, (_, gate) => scans(900, 70, 3, { gate, device: gate })).flat();
    const open = [{ ...alarm, gate: 249 }];
    const held = decide(silent, open);
    expect(held).toHaveLength(200);
    expect(compareAlarms(held, open).ended).toEqual([]);
  });
});

describe("the scans of an event", () => {
  it("[B4.7] are read on from where they were read, some seconds before", () => {
    const known = new GateScans();
    expect(known.readFrom(now)).toBe(now - 1200);
    known.take(now, { from: now - 1200, cells: [scan(1100), scan(5)] });
    expect(known.readFrom(now + 20)).toBe(now - 10);
    known.take(now + 20, { from: now - 10, cells: [{ ...scan(5), scans: 2 }, scan(-15)] });
    expect(known.cells.map(({ scans: count }) => count).toSorted()).toEqual([1, 1, 2]);
    known.take(now + 200, { from: now + 10, cells: [] });
    expect(known.cells.map(({ storedIn }) => storedIn)).toEqual([now - 10]);
  });
});
