import { alarmKinds } from "@tessera/resources/alarm";
import { id, instant, numeric, text } from "@tessera/schema/build";
import { record } from "../../http/answers.ts";

const maybe = { nullable: true } as const;

export const alarmShown = record("Alarm", {
  id: id(),
  kind: text({ description: `\`${alarmKinds.join("`, `")}\`; others may follow.` }),
  gate: id({ ...maybe, description: "Null: scans that name no gate, or an alarm of a device." }),
  device_id: id({ ...maybe, description: "Of an alarm of a device: its number in the organizer." }),
  list: id({ ...maybe, description: "Of an alarm of a check-in list; no kind has one yet." }),
  raised: instant(),
  ended: instant({ ...maybe, description: "Null: it holds." }),
  acknowledged: instant({ ...maybe, description: "When somebody had seen it. Null: no one yet." }),
  acknowledged_by: text({
    ...maybe,
    description: "The name of the person, the key or the device that acknowledged it.",
  }),
  since: instant({ ...maybe, description: "Of `gate_silent`: the last scan of the gate." }),
  measured: numeric({
    ...maybe,
    description:
      "When it was raised. `rate_fell`: scans a minute; `refusals_rose`: the refused share of scans, up to 1; `clock_off`: seconds that the clock is ahead; `queue_grows`: scans to upload; `limit_near`: persons inside.",
  }),
  usual: numeric({
    ...maybe,
    description: "The same before; of `gate_silent` scans a minute. Null: nothing is known.",
  }),
});
