import { arrayOf, choice, id, instant, integer, object, orPlain, text } from "@tessera/schema/build";
import { record } from "../../http/answers.ts";
import { bodyOf } from "../../http/route.ts";
import { checkinFields } from "../listed-positions/schema.ts";

const maybe = { nullable: true } as const;

/** What gates did not know, in the words of refusals. */
export const doubleReasons = [
  ...["already_redeemed", "canceled", "unpaid", "unapproved", "blocked", "revoked"],
  ...["invalid_time", "product", "rules"],
] as const;

const { id: scanId, datetime, gate, device, device_id, auto_checked_in } = checkinFields;

const fields = {
  id: scanId,
  datetime,
  created: instant({ description: "When it came here." }),
  gate,
  device,
  device_id,
  auto_checked_in,
};

export const doubleShown = record("Double", {
  id: id({ description: "That of the later scan." }),
  list: id(),
  position: id({ description: "The ticket." }),
  order: text({ description: "Code of its order." }),
  positionid: integer({ description: "Its number in the order." }),
  reasons: arrayOf(choice(doubleReasons), {
    description: "What the gate of the later scan could not know, or overruled without a network.",
  }),
  created: instant({ description: "When the last of the scans came here." }),
  seconds_apart: integer({ ...maybe, description: "Whole seconds between the scans; null without an earlier one." }),
  earlier: orPlain(record("EarlierScan", fields), ["null"]),
  scan: record("DoubledScan", fields),
  explained: text({ ...maybe, description: "What somebody found out. Null: nothing yet, or it was erased." }),
  explained_by: text({ ...maybe, description: "The name of the key or device that explained it." }),
  explained_at: instant({ ...maybe, description: "Null: it is not explained." }),
});

const countFields = {
  count: integer({ description: "How many have a scan there." }),
  explained: integer({ description: "How many of these are explained." }),
};

export const doubleCountsShown = record("DoubleCounts", {
  count: integer(),
  explained: integer(),
  devices: arrayOf(
    record("DoublesOfDevice", {
      device: id({ ...maybe, description: "Internal id; null: no device." }),
      ...countFields,
    }),
  ),
  gates: arrayOf(record("DoublesAtGate", { gate: id({ ...maybe, description: "Null: no gate." }), ...countFields })),
});

export const explainBody = bodyOf({
  title: "ExplainDoubleBody",
  ...object(
    { explained: text({ maxLength: 1000, description: "What was found out. Empty: that is taken back." }) },
    { required: ["explained"] },
  ),
});
