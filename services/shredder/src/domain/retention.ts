import { addDays, type Instant } from "@tessera/values";

/** Who asks for the exports and erasures of retention. The names of keys are longer, so they find none of them. */
export const retentionCredential = "retention";

const day = 86_400_000_000;

/** So long an erasure is announced. */
const announcedFor = 7 * day;

/** Erasures are known a day before they are announced, so that late rounds do not put them off. */
const knownFor = announcedFor + day;

/** More than clocks of a time zone were ever changed by. */
const slack = 2 * day;

/** The end of an event, and since when its erasure is announced. */
export interface Announced {
  readonly endedAt: Instant;
  readonly announcedAt: Instant;
}

/** An erasure as it is announced. */
export interface Announcement extends Announced {
  readonly dueAt: Instant;
}

export interface AnnounceOptions {
  readonly days: number;
  readonly now: Instant;
  /** What was announced before. */
  readonly known: Announced | undefined;
}

/**
 * Says when an event is erased: so many days after its end at the same local time, and not before it was announced for a
 * week. Another end is announced again. Undefined: it is too early to announce it.
 */
export function announce(
  { endedAt, timeZone }: { readonly endedAt: Instant; readonly timeZone: string },
  { days, now, known }: AnnounceOptions,
): Announcement | undefined {
  const wantedAt = addDays(endedAt, { days, zone: timeZone });
  if (wantedAt > now + knownFor) return undefined;
  const announcedAt = known?.endedAt === endedAt ? known.announcedAt : now;
  return { endedAt, announcedAt, dueAt: Math.max(wantedAt, announcedAt + announcedFor) };
}

/** An instant that all events whose erasure is to be announced now end before. */
export function endsBefore({ days, now }: Pick<AnnounceOptions, "days" | "now">): Instant {
  return now + knownFor + slack - days * day;
}

/** An instant that all erasures to be shown are due before. */
export function shownBefore(now: Instant): Instant {
  return now + announcedFor;
}

/** How far an announced erasure is. */
export type AnnouncedState = "announced" | "due" | "exporting" | "erasing" | "blocked";

/** Says how far an announced erasure is. */
export function stateOf(
  { dueAt, problem, export: exported, case: opened }: Progress,
  { now }: { readonly now: Instant },
): AnnouncedState {
  if (opened !== null) return "erasing";
  if (exported !== null) return "exporting";
  if (problem !== null) return "blocked";
  return dueAt > now ? "announced" : "due";
}

/** What has begun of an announced erasure. */
export interface Progress {
  readonly dueAt: Instant;
  /** Why it may not be erased. */
  readonly problem: string | null;
  /** The id of its export, and that of its case. */
  readonly export: string | null;
  readonly case: string | null;
}
