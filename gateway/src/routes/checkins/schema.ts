import type { Schema } from "@tessera/kit/schema";
import { boolean, choice, id, instant, text } from "@tessera/kit/schema-build";
import { record } from "../../answers.ts";

const maybe = { nullable: true } as const;

/** A scan as the history of its event shows it. */
export const pastCheckinShown: Schema = record("PastCheckin", {
  id: id(),
  successful: boolean(),
  error_reason: text({ ...maybe, description: "Why it was refused; null where it succeeded." }),
  error_explanation: text({ ...maybe, description: "For a person." }),
  position: id({ ...maybe, description: "Null: no ticket has the scanned code." }),
  datetime: instant({ description: "When it was scanned." }),
  created: instant({ description: "When it was stored here." }),
  list: id(),
  auto_checked_in: boolean(),
  gate: id(maybe),
  device: id({ ...maybe, description: "Internal id." }),
  device_id: id({ ...maybe, description: "Number at the organizer." }),
  type: choice(["entry", "exit"]),
});
