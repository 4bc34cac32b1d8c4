import { arrayOf, choice, instant, integer, object, text } from "@tessera/schema/build";
import { shredders } from "@tessera/values";
import { record } from "../../http/answers.ts";
import { bodyOf } from "../../http/route.ts";

const identifiers = Object.keys(shredders);

/** Ten years of 365 days: the longest legal retention of sales records. */
const mostDays = 3650;

const most = 1000;

export const retentionBody = bodyOf({
  title: "RetentionBody",
  ...object(
    {
      days: integer({
        minimum: 0,
        maximum: mostDays,
        description: "So many days after its end an event is erased, at the same local time.",
      }),
      shredders: arrayOf(choice(identifiers), {
        minItems: 1,
        maxItems: most,
        description: "Identifiers of shredders: the kinds of personal data that are erased.",
      }),
    },
    { required: ["days", "shredders"] },
  ),
});

export const retentionShown = record("Retention", {
  days: integer({ nullable: true, description: "Null: it is off." }),
  shredders: arrayOf(choice(identifiers)),
  changed: instant({ nullable: true, description: "When it was set to this." }),
});

export const states = ["announced", "due", "exporting", "erasing", "blocked"] as const;

export const upcomingShown = record("UpcomingErasure", {
  event: text({ trim: false }),
  due: instant({ description: "When it is erased, unless it is blocked." }),
  shredders: arrayOf(choice(identifiers)),
  state: choice(states),
  reason: text({ nullable: true, description: "Why it is blocked, for people." }),
});

export const erasedShown = record("ErasedEvent", {
  event: text({ trim: false }),
  case: text({ description: "The id of the erasure." }),
  shredders: arrayOf(choice(identifiers)),
  erased: instant({ description: "When everything was erased." }),
  certificate: text({ description: "Answers the certificate." }),
});
