import type { AlarmKind } from "@tessera/resources/alarm";
import type { AlarmSubject, HeldAlarm, IsOpen } from "./alarm.ts";
import { alarmMemory, type GateCell, toCell } from "./gate-cells.ts";
import { type CountedPersons, decideLimits } from "./limit-alarms.ts";
import { decideQueues, type QueueSample } from "./queue-alarms.ts";

export interface AlarmFacts {
  /** In seconds since 1970. */
  readonly now: number;
  /** The scans of the last 20 minutes. */
  readonly cells: readonly GateCell[];
  /** What the devices for the event reported about their queues. */
  readonly queues: readonly QueueSample[];
  readonly limits: readonly CountedPersons[];
  readonly open: readonly AlarmSubject[];
}

/** More alarms at a time help no one. */
const mostAlarms = 200;

/** Decides which alarms hold. An open one ends only at a better value than it began at (hysteresis), so that no alarm flaps. */
export function decideAlarms({ now, cells, queues, limits, open }: AlarmFacts): HeldAlarm[] {
  const isOpen = holdsIn(open);
  const lately = cells.filter(({ madeIn }) => madeIn > now - alarmMemory);
  const byGate = atTheirGates(lately);
  const all = measureRates([...byGate.values()].flat(), now);
  const gates = [...byGate].flatMap(([gate, ofGate]) => {
    const silent = decideSilence(gate, ofGate, now);
    const refusals = decideRefusals(gate, ofGate, { now, isOpen });
    const rate = silent === undefined ? decideRate(gate, ofGate, { now, all, isOpen }) : undefined;
    return [silent, rate, refusals].filter((alarm) => alarm !== undefined);
  });
  const held = [
    ...decideLimits(limits, { isOpen }),
    ...gates,
    ...decideClocks(cells, { now, isOpen }),
    ...decideQueues(queues, { now, isOpen }),
  ];
  if (held.length <= mostAlarms) return held;
  return [...held.filter(isOpen), ...held.filter((alarm) => !isOpen(alarm))].slice(0, mostAlarms);
}

/** Compares the open alarms with those that hold: which ones to raise, and which to end. */
export function compareAlarms<O extends AlarmSubject>(
  held: readonly HeldAlarm[],
  open: readonly O[],
): { readonly raised: readonly HeldAlarm[]; readonly ended: readonly O[] } {
  const [isOpen, holds] = [holdsIn(open), holdsIn(held)];
  return { raised: held.filter((alarm) => !isOpen(alarm)), ended: open.filter((alarm) => !holds(alarm)) };
}

function holdsIn(alarms: readonly AlarmSubject[]): IsOpen {
  const keys = new Set(alarms.map(keyOf));
  return (alarm) => keys.has(keyOf(alarm));
}

const keyOf = ({ kind, gate, device, list }: AlarmSubject) => JSON.stringify([kind, gate, device, list]);

const ofGate = (kind: AlarmKind, gate: number | null) => ({ kind, gate, device: null, list: null });

/** Scans by gate. A device that has moved counts at its new gate alone: the gate that it left has not lost its visitors. */
function atTheirGates(cells: readonly GateCell[]): Map<number | null, GateCell[]> {
  const newest = new Map<number, GateCell>();
  for (const cell of cells) {
    if (cell.device === null) continue;
    const known = newest.get(cell.device);
    if (known === undefined || known.lastAt < cell.lastAt) newest.set(cell.device, cell);
  }
  const staying = cells.filter(({ device, gate }) => device === null || newest.get(device)?.gate === gate);
  return Map.groupBy(staying, ({ gate }) => gate);
}

const shortestSilence = 60;
/** After a longer silence the gate counts as closed. */
const longestSilence = 900;
const busySeconds = 300;
const busyScans = 10;
/** Ten scans in fewer minutes than this may be somebody who tests, and no visitors. */
const busyMinutes = 3;
/** Visitors come by chance and in groups: at a gate that is well, a gap is as long as 20 mean ones once in some hours. */
const silentGaps = 20;

function decideSilence(gate: number | null, cells: readonly GateCell[], now: number): HeldAlarm | undefined {
  const since = Math.max(...cells.map(({ lastAt }) => lastAt));
  const last = toCell(since / 1_000_000);
  const busy = cells.filter(({ madeIn }) => madeIn > last - busySeconds);
  const scans = countScans(busy);
  const minutes = new Set(busy.map(({ madeIn }) => Math.floor(madeIn / 60))).size;
  const silence = now - since / 1_000_000;
  const longEnough = Math.max(shortestSilence, (silentGaps * busySeconds) / scans);
  if (scans < busyScans || minutes < busyMinutes || silence < longEnough || silence > longestSilence) return undefined;
  return { ...ofGate("gate_silent", gate), since, measured: null, usual: scans / (busySeconds / 60) };
}

/** Scans of a minute may arrive some seconds after its end. */
const lateSeconds = 10;
const recentMinutes = 3;
const usualMinutes = 5;
const leastRate = 6;

interface Rates {
  /** Scans a minute. */
  readonly measured: number;
  readonly usual: number;
  /** Whether there were scans in the first of all these minutes, or before. */
  readonly isKnown: boolean;
}

/** Compares whole minutes, so that it is decided once a minute. */
function measureRates(cells: readonly GateCell[], now: number): Rates {
  const end = Math.floor((now - lateSeconds) / 60) * 60;
  const middle = end - recentMinutes * 60;
  const begin = middle - usualMinutes * 60;
  return {
    measured: countScans(madeBetween(cells, middle, end)) / recentMinutes,
    usual: countScans(madeBetween(cells, begin, middle)) / usualMinutes,
    isKnown: cells.some(({ madeIn }) => madeIn < begin + 60),
  };
}

/** With fewer visitors all gates scan less: only a gate that falls by more than the others raises an alarm. */
function decideRate(
  gate: number | null,
  cells: readonly GateCell[],
  { now, all, isOpen }: { readonly now: number; readonly all: Rates; readonly isOpen: IsOpen },
): HeldAlarm | undefined {
  const { measured, usual, isKnown } = measureRates(cells, now);
  if (!isKnown || usual < leastRate) return undefined;
  const others = { measured: all.measured - measured, usual: all.usual - usual };
  const ebb = others.usual < leastRate ? 1 : Math.min(1, others.measured / others.usual);
  const expected = usual * ebb;
  const alarm = { ...ofGate("rate_fell", gate), since: null, measured, usual };
  if (isOpen(alarm)) return measured <= expected * 0.75 ? alarm : undefined;
  const isLess =
    expected > 0 &&
    measured <= expected / 2 &&
    isUnlikely((expected - measured) * recentMinutes, expected * recentMinutes);
  return isLess ? alarm : undefined;
}

const refusedSeconds = 120;
const refusedBeforeSeconds = 900;
const leastScans = 10;
const leastRefused = 5;
/** Of few scans chance alone refuses several, however good the quarter of an hour before was. */
const leastExpected = 0.05;

function decideRefusals(
  gate: number | null,
  cells: readonly GateCell[],
  { now, isOpen }: { readonly now: number; readonly isOpen: IsOpen },
): HeldAlarm | undefined {
  const end = toCell(now) + 10;
  const middle = end - refusedSeconds;
  const recent = madeBetween(cells, middle, end);
  const before = madeBetween(cells, middle - refusedBeforeSeconds, middle);
  const [scans, refused] = [countScans(recent), countRefused(recent)];
  if (scans === 0) return undefined;
  const measured = refused / scans;
  // Few scans tell nothing of what is usual.
  const usual = countScans(before) < leastScans ? 0 : countRefused(before) / countScans(before);
  const expected = scans * Math.max(usual, leastExpected);
  const alarm = { ...ofGate("refusals_rose", gate), since: null, measured, usual };
  if (isOpen(alarm)) return measured >= 0.15 ? alarm : undefined;
  const isMany = scans >= leastScans && refused >= leastRefused && measured >= 0.2 && measured >= 2 * usual;
  return isMany && isUnlikely(refused - expected, expected) ? alarm : undefined;
}

/** Whether a count differs from an expected one by more than chance and groups make it: four and a half standard deviations of single visitors. */
function isUnlikely(difference: number, expected: number): boolean {
  return difference >= 4.5 * Math.sqrt(expected);
}

const clockSeconds = 300;
/** One scan may have been dated by hand. */
const leastAhead = 3;

/** A clock that is behind cannot be told from scans that were uploaded later. */
function decideClocks(
  cells: readonly GateCell[],
  { now, isOpen }: { readonly now: number; readonly isOpen: IsOpen },
): HeldAlarm[] {
  const wrong = cells.filter(
    ({ device, ahead, storedIn }) => device !== null && ahead > 0 && storedIn > now - clockSeconds,
  );
  return [...Map.groupBy(wrong, ({ device }) => device)].flatMap(([device, ofDevice]) => {
    const measured = Math.max(...ofDevice.map(({ secondsAhead }) => secondsAhead));
    const alarm = { kind: "clock_off", gate: null, device, list: null, since: null, measured, usual: null } as const;
    const ahead = ofDevice.reduce((sum, cell) => sum + cell.ahead, 0);
    return ahead >= leastAhead || isOpen(alarm) ? [alarm] : [];
  });
}

function madeBetween(cells: readonly GateCell[], from: number, to: number): GateCell[] {
  return cells.filter(({ madeIn }) => madeIn >= from && madeIn < to);
}

const countScans = (cells: readonly GateCell[]) => cells.reduce((sum, { scans }) => sum + scans, 0);
const countRefused = (cells: readonly GateCell[]) => cells.reduce((sum, { refused }) => sum + refused, 0);
