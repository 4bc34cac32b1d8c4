import { describeAge } from "./describe-amount.ts";
import { type Finding, ok, warning } from "./finding.ts";
import type { Service, Surroundings } from "./surroundings.ts";

/** Organizers have been told of it for two weeks by then. */
const lateDays = 7;

/** More than a person reads at once. */
const mostNamed = 5;

/** Examines whether events keep personal data for longer than their organizers have set. */
export async function examineRetention({ database }: Surroundings, shredder: Service): Promise<Finding[]> {
  const { findBlocked } = await import("@tessera/shredder/store/announcements");
  const blocked = await findBlocked(await database.as(shredder), { days: lateDays, most: mostNamed });
  if (blocked.length === 0) return [ok("no event keeps personal data beyond its retention")];
  return blocked.map(({ organizer, event, problem, seconds }) =>
    warning(`event ${event} of ${organizer} should have been erased ${describeAge(seconds)} ago`, {
      why: problem,
      mend: "tell the organizer: it is erased within an hour when nothing is in its way",
    }),
  );
}
