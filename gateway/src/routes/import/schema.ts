import { arrayOf, boolean, integer, mapOf, text } from "@tessera/schema/build";
import { record } from "../../http/answers.ts";

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
  ignored: arrayOf(
    record("IgnoredKey", {
      kind: text(),
      key: text({ description: "Its path in `data`; the last part is cut to 100 characters." }),
      count: integer({ description: "How often it was sent." }),
    }),
    { description: "The first 100 keys of `data` that their kind does not know. They have no effect." },
  ),
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
  ambiguous_secrets: arrayOf(
    record("AmbiguousSecret", {
      organizer: text(),
      event: text(),
      count: integer({ description: "How many positions have it." }),
      positions: arrayOf(record("AmbiguousPosition", { order: text(), id: integer() }), {
        description: "The first 10 of them.",
      }),
    }),
    {
      nullable: true,
      description:
        "The first 100 secrets that several positions of an event have, canceled ones left aside, in the events whose orders were sent: a scan of such a secret is refused as `ambiguous`. Null: it could not be found out in time.",
    },
  ),
};

export const summaryShown = record("ImportSummary", summary);

/** What an import that ended early had done by then. */
export const failureShown = record("ImportFailure", { detail: text(), ...summary });
