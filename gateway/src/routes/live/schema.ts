import { arrayOf, id, instant, integer, mapOf, orPlain, text } from "@tessera/schema/build";
import { record } from "../../http/answers.ts";
import { alarmShown } from "../alarms/schema.ts";

const maybe = { nullable: true } as const;

const counts = {
  entries: integer({ description: "Successful entries of the last 60 seconds." }),
  exits: integer({ description: "Successful exits of the last 60 seconds." }),
  refused: integer({ description: "Refused scans of the last 60 seconds." }),
  reasons: mapOf(integer(), { description: "How many were refused for each reason." }),
};

const listShown = record("LiveList", {
  id: id(),
  name: text(),
  subevent: id({ ...maybe, description: "Its date, in a series." }),
  position_count: integer({ description: "Tickets of the list, as in its status." }),
  checkin_count: integer({ description: "Tickets that entered." }),
  inside_count: integer({ description: "Tickets that entered and have not left." }),
  limit: orPlain(
    record("LiveLimit", {
      persons: integer({ description: "All persons inside, also those whose tickets the list does not count." }),
      soft_limit: integer(maybe),
      hard_limit: integer(maybe),
      reached: instant({
        ...maybe,
        description:
          "When the hard limit, else the soft one, is reached if visitors come as in the last minutes; null: not within six hours.",
      }),
    }),
    ["null"],
    { description: "Null: the list has none." },
  ),
});

const deviceShown = record("LiveDevice", {
  device_id: id({ description: "Its number in the organizer." }),
  name: text({ ...maybe, description: "Null: it is revoked, or not heard of for half a day." }),
  gate: id({ ...maybe, description: "The gate of its newest scans, else that which it is set to." }),
  ...counts,
  last_scan: instant({ ...maybe, description: "Its newest scan; null: none within 15 minutes." }),
  last_contact: instant({ ...maybe, description: "Its newest request." }),
  queue: integer({ ...maybe, description: "Scans that it has still to upload; null: it has not told." }),
  battery: integer({ ...maybe, description: "In percent; null: it has not told." }),
  last_sync: instant({ ...maybe, description: "When it had all changes of the sync feed; null: it does not read it." }),
});

const gateShown = record("LiveGate", {
  gate: id({ ...maybe, description: "Null: scans that name no gate." }),
  ...counts,
  last_scan: instant({ ...maybe, description: "The newest scan of its devices; null: none within 15 minutes." }),
});

const refusalShown = record("LiveRefusal", {
  id: id({ description: "As in `checkins/`." }),
  datetime: instant(),
  list: id(),
  gate: id(maybe),
  device_id: id(maybe),
  reason: text(),
});

export const liveShown = record("Live", {
  at: instant({ description: "When it was read." }),
  ...counts,
  lists: arrayOf(listShown, { description: "At most 500, in the order of their names." }),
  gates: arrayOf(gateShown, { description: "With scans of the last minute, or a device that was heard of." }),
  devices: arrayOf(deviceShown, { description: "With a scan of the last 15 minutes, or heard of within half a day." }),
  refusals: arrayOf(refusalShown, { description: "The 20 newest of at most the last 15 minutes." }),
  doubles: orPlain(
    record("LiveDoubles", {
      count: integer(),
      explained: integer({ description: "How many of them are explained." }),
    }),
    ["null"],
    { description: "Null: more than can be looked at; `doubles/` has them." },
  ),
  alarms: arrayOf(alarmShown, {
    description: "Those that hold, at most 100: first those that no one has acknowledged, of these the newest.",
  }),
});

export const lastHourShown = record("LastHour", {
  at: instant({ description: "When they were counted: the minute of this time is not over." }),
  minutes: arrayOf(
    record("MinuteOfGate", {
      at: instant({ description: "Its beginning." }),
      gate: id({ ...maybe, description: "Null: scans that name no gate." }),
      entries: integer(),
      exits: integer(),
      refused: integer(),
    }),
    { description: "In the order of time; minutes without scans are left out." },
  ),
});
