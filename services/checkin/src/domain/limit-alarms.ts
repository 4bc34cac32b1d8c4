import type { HeldAlarm, IsOpen } from "./alarm.ts";

export interface CountedPersons {
  readonly list: number;
  readonly persons: number;
  readonly softLimit: number | null;
  readonly hardLimit: number | null;
}

/** An alarm begins at the first share of a limit, and ends below the second. */
const nearShare = 0.9;
const wellShare = 0.85;

/** Which lists are nearly full: of the soft limit, where there is one, else of the hard one. */
export function decideLimits(counts: readonly CountedPersons[], { isOpen }: { readonly isOpen: IsOpen }): HeldAlarm[] {
  return counts.flatMap(({ list, persons, softLimit, hardLimit }) => {
    const limit = softLimit ?? hardLimit;
    if (limit === null) return [];
    const alarm = {
      ...({ kind: "limit_near", gate: null, device: null, list, since: null } as const),
      ...{ measured: persons, usual: limit },
    };
    return persons >= limit * (isOpen(alarm) ? wellShare : nearShare) ? [alarm] : [];
  });
}
