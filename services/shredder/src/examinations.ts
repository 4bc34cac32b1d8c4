import type { Examination } from "@tessera/kit/service/examination";
import { describeAge, mostNamed, ok, warning } from "@tessera/kit/service/finding";
import { findBlocked } from "./store/announcements.ts";

/** Examines whether events keep personal data for longer than their organizers have set. */
const retention: Examination = {
  ...{ area: "retention", subject: "the retention of data" },
  async examine({ db }) {
    // Organizers were notified two weeks before.
    const blocked = await findBlocked(await db(), { days: 7, most: mostNamed });
    if (blocked.length === 0) return [ok("no event keeps personal data beyond its retention")];
    return blocked.map(
      ({ organizer, event, problem, seconds }) =>
        warning`event ${event} of ${organizer} should have been erased ${describeAge(seconds)} ago
          ${problem}
          → tell the organizer: it is erased within an hour when nothing is in its way`,
    );
  },
};

export const examinations = [retention];
