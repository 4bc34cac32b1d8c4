import { boolean, id, instant, integer, text } from "@tessera/schema/build";
import type { JsonSchema } from "@tessera/schema/schema";
import { record } from "../../http/answers.ts";
import { errorReasons } from "../failed-checkins/schema.ts";
import { checkinFields } from "../listed-positions/schema.ts";

const maybe = { nullable: true } as const;

export const pastCheckinShown = record("PastCheckin", {
  ...checkinFields,
  successful: boolean(),
  error_reason: text({
    ...maybe,
    enum: [...errorReasons, null],
    description: "Why it was refused; null where it succeeded.",
  }),
  error_explanation: text({ ...maybe, description: "For a person." }),
  position: id({ ...maybe, description: "Null: no ticket has the scanned code." }),
  created: instant({ description: "When it was stored here." }),
});

const exported = {
  ...pastCheckinShown.properties,
  list_name: text({ ...maybe, description: "Null: the event does not have the list." }),
  order: text({ ...maybe, description: "The code of the ticket's order." }),
  positionid: integer({ ...maybe, description: "The number of the ticket in its order." }),
  item: id({ ...maybe, description: "Of the ticket." }),
  item_name: text({ ...maybe, description: "The internal name, else the name, in the language of the event." }),
  variation: id(maybe),
  variation_name: text(maybe),
  subevent: id(maybe),
  attendee_name: text(maybe),
};

const exportedScan = record("ExportedCheckin", exported);

/** Lines with line feeds between them. */
export const exportedLines: JsonSchema = {
  type: "string",
  contentMediaType: "application/json",
  contentSchema: exportedScan,
};
