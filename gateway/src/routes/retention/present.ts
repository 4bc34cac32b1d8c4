import {
  type Retention,
  type UpcomingErasure,
  UpcomingState,
} from "@tessera/protos/gen/ticketing/shredder/v1/retention";
import { formatInstant } from "@tessera/values";
import type { states } from "./schema.ts";

/** The settings of an organizer; undefined: none. */
export function presentRetention(set: Retention | undefined) {
  if (set === undefined) return { days: null, shredders: [], changed: null };
  return { days: set.days, shredders: set.shredders, changed: formatInstant(set.changedAt) };
}

const names: Readonly<Partial<Record<UpcomingState, (typeof states)[number]>>> = {
  [UpcomingState.ANNOUNCED]: "announced",
  [UpcomingState.DUE]: "due",
  [UpcomingState.EXPORTING]: "exporting",
  [UpcomingState.ERASING]: "erasing",
  [UpcomingState.BLOCKED]: "blocked",
};

export function presentUpcoming({ event, dueAt, shredders, state, reason }: UpcomingErasure) {
  const name = names[state];
  if (name === undefined) throw new Error(`shredder answered an unknown state: ${state}`);
  return { event, due: formatInstant(dueAt), shredders, state: name, reason: reason ?? null };
}
