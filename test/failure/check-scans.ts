import { type Attempt, type Course, placeOf, type ScanType, toCourses } from "./scan-history.ts";

/** A scan as it is stored in the end. */
export interface StoredScan {
  readonly id: number;
  readonly list: number;
  readonly position: number | null;
  readonly type: ScanType;
  readonly successful: boolean;
  readonly reason: string | null;
  readonly nonce: string | null;
  /** In microseconds since 1970. */
  readonly at: number;
}

export interface ListTerms {
  readonly id: number;
  readonly allowMultipleEntries: boolean;
  readonly allowEntryAfterExit: boolean;
}

export interface ScanEvidence {
  readonly attempts: readonly Attempt[];
  readonly stored: readonly StoredScan[];
  readonly lists: readonly ListTerms[];
  /** Tickets that were deleted and created again meanwhile, which deletes their scans. */
  readonly fleeting: ReadonlySet<number>;
}

/** Compares the answers to gates with the stored scans, and returns the contradictions. */
export function checkScans({ attempts, stored, lists, fleeting }: ScanEvidence): string[] {
  const courses = toCourses(attempts);
  const lasting = courses.filter(({ scan }) => !fleeting.has(scan.position));
  const rows = stored.filter(({ position }) => position === null || !fleeting.has(position));
  const successes = rows.filter(({ successful }) => successful);
  return [
    ...findRepeated(stored),
    ...findStray(courses, stored),
    ...findLost(lasting, rows),
    ...lists.flatMap((list) => [
      ...findBrokenSequences(
        list,
        successes.filter((row) => row.list === list.id),
      ),
      ...findWrongRefusals(
        list,
        lasting.filter(({ scan }) => scan.list === list.id),
        successes.filter((row) => row.list === list.id),
      ),
    ]),
    ...findOutOfOrder(lasting, successes),
  ];
}

/** One nonce is one check-in, also after repetitions and killed processes. */
function findRepeated(stored: readonly StoredScan[]): string[] {
  const successes = stored.filter(({ successful, nonce }) => successful && nonce !== null);
  return [...Map.groupBy(successes, (row) => `nonce ${row.nonce} on ${placeOf(row)}`)]
    .filter(([, rows]) => rows.length > 1)
    .map(([name, rows]) => `${name} is stored ${rows.length} times`);
}

function findStray(courses: readonly Course[], stored: readonly StoredScan[]): string[] {
  const sent = new Map(courses.map((course) => [course.scan.nonce, course]));
  return stored.flatMap((row) => {
    const scan = sent.get(row.nonce ?? "")?.scan;
    if (scan === undefined) return [`scan ${row.id} was never sent`];
    // A code without a ticket at that moment is stored without one.
    const same = scan.list === row.list && scan.type === row.type && [null, scan.position].includes(row.position);
    return same ? [] : [`scan ${row.id} was sent as ${scan.type} of ${placeOf(scan)}`];
  });
}

/** A nonce is admitted once. A refusal is stored for each decision, and the gateway may request two decisions of a scan. */
const triesPerRequest = 2;

function findLost(courses: readonly Course[], stored: readonly StoredScan[]): string[] {
  const rows = Map.groupBy(stored, ({ nonce }) => nonce);
  return courses.flatMap(({ scan, attempts, known, reason }) => {
    const ofScan = rows.get(scan.nonce) ?? [];
    const successes = ofScan.filter(({ successful }) => successful).length;
    const refusals = ofScan.length - successes;
    const name = `${scan.type} ${scan.nonce} of ${placeOf(scan)}`;
    if (known === undefined) return [`${name} never found out what became of it`];
    if (known === "not_done") return ofScan.length > 0 ? [`${name} was turned away, and is stored`] : [];
    if (known === "admitted" && successes === 0) return [`${name} was admitted, and is not stored`];
    if (known === "refused" && successes > 0) return [`${name} was refused, and is stored as admitted`];
    if (known === "refused" && !ofScan.some((row) => row.reason === reason))
      return [`${name} was refused as ${reason}, and that is not stored`];
    return refusals > attempts * triesPerRequest
      ? [`${name} was sent ${attempts} times and is stored as refused ${refusals} times`]
      : [];
  });
}

/** A scan gets its id with its decision, and the next scan of a ticket is decided after the last one was stored. */
function inOrder(rows: readonly StoredScan[]): StoredScan[] {
  return rows.toSorted((a, b) => a.id - b.id);
}

interface Presence {
  readonly entries: number;
  readonly last: StoredScan | undefined;
}

function after(presence: Presence, row: StoredScan): Presence {
  const { entries, last } = presence;
  return {
    entries: entries + (row.type === "entry" ? 1 : 0),
    last: last === undefined || row.at >= last.at ? row : last,
  };
}

function mayEnter({ entries, last }: Presence, list: ListTerms): boolean {
  return list.allowMultipleEntries || entries === 0 || (list.allowEntryAfterExit && last?.type === "exit");
}

const never: Presence = { entries: 0, last: undefined };

function findBrokenSequences(list: ListTerms, successes: readonly StoredScan[]): string[] {
  return [...Map.groupBy(successes, placeOf)].flatMap(([place, rows]) => {
    let presence = never;
    for (const row of inOrder(rows)) {
      if (row.type === "entry" && !mayEnter(presence, list))
        return [`${place} admits scan ${row.id} after scan ${presence.last?.id}`];
      presence = after(presence, row);
    }
    return [];
  });
}

/** Every ticket of a lasting order is valid, so only an earlier or simultaneous entry can refuse it. */
function findWrongRefusals(list: ListTerms, courses: readonly Course[], successes: readonly StoredScan[]): string[] {
  const coursesOf = new Map(courses.map((course) => [course.scan.nonce, course]));
  const rowsOf = Map.groupBy(successes, placeOf);
  return courses.flatMap(({ scan, known, reason, from, to }) => {
    if (known !== "refused") return [];
    const name = `${scan.type} ${scan.nonce} of ${placeOf(scan)}`;
    if (reason !== "already_redeemed" || scan.type === "exit") return [`${name} was refused as ${reason}`];
    let before = never;
    for (const row of inOrder(rowsOf.get(placeOf(scan)) ?? [])) {
      const other = coursesOf.get(row.nonce ?? "");
      if (other === undefined || other.from > to) continue;
      if (other.to < from) before = after(before, row);
      else if (row.type === "entry") return [];
    }
    return mayEnter(before, list) ? [`${name} was refused as ${reason}, and nobody had come in`] : [];
  });
}

/** A scan that was answered before another one was sent is stored before it. */
function findOutOfOrder(courses: readonly Course[], successes: readonly StoredScan[]): string[] {
  const coursesOf = new Map(courses.map((course) => [course.scan.nonce, course]));
  return [...Map.groupBy(successes, placeOf)].flatMap(([place, rows]) => {
    let latestStart = Number.NEGATIVE_INFINITY;
    for (const row of inOrder(rows)) {
      const course = coursesOf.get(row.nonce ?? "");
      if (course === undefined) continue;
      if (course.to < latestStart) return [`${place} has scan ${row.id} behind one that was sent after its answer`];
      latestStart = Math.max(latestStart, course.from);
    }
    return [];
  });
}
