import { arrayOf, boolean, integer, mapOf, text } from "@tessera/schema/build";
import type { TypeOf } from "@tessera/schema/schema";
import { record } from "../http/answers.ts";

/** The kind is null if the line names none, or an unknown one. */
const rejectedLine = record("RejectedLine", {
  line: integer(),
  kind: text({ nullable: true }),
  errors: mapOf(arrayOf(text())),
});

const warnedLine = record("WarnedLine", {
  line: integer(),
  kind: text(),
  warnings: mapOf(arrayOf(text()), {
    description: "By field: what was left out, or is doubtful and was taken as it was sent.",
  }),
});

const overbookedQuota = record("OverbookedQuota", {
  organizer: text(),
  event: text(),
  quota: integer(),
  size: integer(),
  taken: integer({ description: "Positions of paid and pending orders." }),
});

/** Without the secret itself, which would admit. */
const ambiguousSecret = record("AmbiguousSecret", {
  organizer: text(),
  event: text(),
  count: integer({ description: "How many positions have it." }),
  positions: arrayOf(record("AmbiguousPosition", { order: text(), id: integer() }), {
    description: "The first 10 of them.",
  }),
});

const summary = {
  records: integer({ description: "Lines that held something." }),
  accepted: integer(),
  rejected: integer(),
  kinds: mapOf(integer(), { description: "Accepted records by kind." }),
  errors: arrayOf(rejectedLine, {
    description: "The first rejected lines: 1000, or as many as `errors` of the address asks for.",
  }),
  warned: integer({ description: "Accepted records of which something was left out, or is doubtful." }),
  warnings: arrayOf(warnedLine, {
    description: "The first of their lines: 1000, or as many as `errors` of the address asks for.",
  }),
  settled: boolean({
    description: "Everything accepted is visible through every endpoint. False where nothing was stored.",
  }),
  ignored: arrayOf(
    record("IgnoredKey", {
      kind: text(),
      key: text({ description: "Its path in `data`; the last part is cut to 100 characters." }),
      count: integer({ description: "How often it was sent." }),
    }),
    { description: "The first 100 keys of `data` that their kind does not know. They have no effect." },
  ),
  overbooked: arrayOf(overbookedQuota, {
    nullable: true,
    description:
      "The first 100 quotas of which more is taken than there is, in the events whose orders or quotas were sent. Null: it could not be found out in time.",
  }),
  ambiguous_secrets: arrayOf(ambiguousSecret, {
    nullable: true,
    description:
      "The first 100 secrets that several positions of an event have, canceled ones left aside, in the events whose orders were sent: a scan of such a secret is refused as `ambiguous`. Null: it could not be found out in time.",
  }),
};

/** The result of an import. */
export const summaryShown = record("ImportSummary", summary);

export type ImportSummary = TypeOf<typeof summaryShown>;
export type LineWarning = TypeOf<typeof warnedLine>;
export type LineError = TypeOf<typeof rejectedLine>;
export type OverbookedQuota = TypeOf<typeof overbookedQuota>;
export type AmbiguousSecret = TypeOf<typeof ambiguousSecret>;

/** The result so far of an import that ended early. */
export const failureShown = record("ImportFailure", { detail: text(), ...summary });
