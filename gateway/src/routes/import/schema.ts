import { arrayOf, boolean, integer, mapOf, text } from "@tessera/kit/schema-build";
import { record } from "../../answers.ts";

const summary = {
  records: integer({ description: "Lines that held something." }),
  accepted: integer(),
  rejected: integer(),
  kinds: mapOf(integer(), { description: "Accepted records by kind." }),
  errors: arrayOf(
    record("RejectedLine", { line: integer(), kind: text({ nullable: true }), errors: mapOf(arrayOf(text())) }),
    {
      description: "The first 1000 rejected lines.",
    },
  ),
  settled: boolean({ description: "Everything accepted is visible through every endpoint." }),
  overbooked: arrayOf(
    record("OverbookedQuota", {
      organizer: text(),
      event: text(),
      quota: integer(),
      size: integer(),
      taken: integer({ description: "Positions of paid and pending orders." }),
    }),
    {
      nullable: true,
      description:
        "The first 100 quotas of which more is taken than there is, in the events whose orders or quotas were sent. Null: it could not be found out in time.",
    },
  ),
};

export const summaryShown = record("ImportSummary", summary);

/** What an import that ended early had done by then. */
export const failureShown = record("ImportFailure", { detail: text(), ...summary });
