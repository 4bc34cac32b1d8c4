import { choice, id, instant, object, orNothing, raw, text } from "@tessera/schema/build";
import type { TypeOf } from "@tessera/schema/schema";
import { record } from "../../http/answers.ts";
import { bodyOf } from "../../http/route.ts";

/** The reasons of refusals, as scanners and histories name them. */
export const errorReasons = [
  ...["canceled", "invalid", "unpaid", "product", "rules", "revoked", "incomplete", "already_redeemed", "ambiguous"],
  ...["error", "blocked", "unapproved", "invalid_time", "annulled"],
  // Reasons about media, which scanners in the field may know already.
  ...["already_exchanged", "medium_invalid", "medium_exists"],
] as const;

export const sourceTypes = ["barcode", "nfc_uid", "nfc_mf0aes"] as const;

/** Longer than any code, even in base64, and short enough that a page of explanations is quick. */
const longestText = 10_000;

const maybe = { nullable: true } as const;

const required = {
  error_reason: choice(errorReasons),
  raw_barcode: text({ blank: false, maxLength: longestText, description: "What was scanned." }),
};

const optional = {
  error_explanation: text({ ...maybe, maxLength: longestText, description: "For a person." }),
  raw_source_type: choice(sourceTypes, {
    ...maybe,
    description: "What it was scanned from. Default: `barcode`.",
  }),
  raw_item: id({ ...maybe, description: "What the scanner took it for." }),
  raw_variation: id(maybe),
  raw_subevent: id({ ...maybe, description: "Date of an event series." }),
  nonce: text({
    ...maybe,
    trim: false,
    maxLength: 190,
    description: "Identifies the refusal: sent again, it is stored once.",
  }),
  datetime: instant({ ...maybe, description: "Time of the scan. Default: now." }),
  type: choice(["entry", "exit"], { ...maybe, description: "Default: `entry`." }),
  position: id({ ...maybe, description: "Default: the position with `raw_barcode` for its secret, if there is one." }),
};

/** The size of a code and an explanation, in any script. */
const mostBytes = 64 * 1024;

/** What pretixSCAN calls `raw_item`, `raw_variation` and `raw_subevent`. It sends a refusal once: what is wrong here is ignored. */
const namesOfScanners = { item: raw(), variation: raw(), subevent: raw() };

export const failedCheckinBody = bodyOf(
  {
    title: "FailedCheckinBody",
    ...object(
      { ...required, ...orNothing(optional), ...namesOfScanners },
      { required: ["error_reason", "raw_barcode"] },
    ),
  },
  { maxBytes: mostBytes },
);

export type FailedCheckinBody = TypeOf<typeof failedCheckinBody.schema>;

export const failedCheckinShown = record("FailedCheckin", {
  ...required,
  ...optional,
  raw_source_type: choice(sourceTypes),
  datetime: instant(),
  type: choice(["entry", "exit"]),
  position: id({ ...maybe, description: "Null: no ticket has the scanned code." }),
});
