import { describeCount } from "./describe-amount.ts";
import { type Finding, ok, warning } from "./finding.ts";
import type { Service, Surroundings } from "./surroundings.ts";

const days = 7;

/** More than a person reads at once. */
const mostNamed = 5;

/** Tells which fields of records the platform left out or doubts. The feed answers to no sender. */
export async function examineRecords({ database }: Surroundings, gateway: Service): Promise<Finding[]> {
  const { findWarnings } = await import("@tessera/gateway/store/record-warnings");
  const found = await findWarnings(await database.as(gateway), { days, most: mostNamed });
  if (found.length === 0) return [ok(`no record had warnings in the last ${days} days`)];
  return found.map(({ kind, field, count }) =>
    warning(`${describeCount(count, "warning")} about ${field} of ${kind} records, the last within ${days} days`, {
      why: "the shop sends values that were left out or are doubtful; the records were taken",
      mend: "an import names the lines and says what is wrong; the tickets are admitted as they are",
    }),
  );
}
