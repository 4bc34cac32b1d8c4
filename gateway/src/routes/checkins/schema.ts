import { boolean, id, instant, text } from "@tessera/schema/build";
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
