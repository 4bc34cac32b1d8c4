import type { Example } from "../../http/route.ts";
import { openAlarm } from "../alarms/examples.ts";

const counts = { entries: 41, exits: 3, refused: 2, reasons: { already_redeemed: 2 } };

export const liveExamples = {
  read: {
    status: "ok",
    answer: {
      at: "2027-05-12T06:44:03Z",
      ...counts,
      lists: [
        {
          id: 1,
          name: "Main entrance",
          subevent: null,
          position_count: 5200,
          checkin_count: 3187,
          inside_count: 2904,
          limit: { persons: 2911, soft_limit: 3200, hard_limit: 3500, reached: "2027-05-12T07:19:40Z" },
        },
      ],
      gates: [{ gate: 1, ...counts, last_scan: "2027-05-12T06:44:02.731150Z" }],
      devices: [
        {
          device_id: 2,
          name: "North 1",
          gate: 1,
          ...counts,
          last_scan: "2027-05-12T06:44:02.731150Z",
          last_contact: "2027-05-12T06:44:02.804218Z",
          queue: 0,
          battery: 81,
          last_sync: "2027-05-12T06:44:01.004218Z",
        },
      ],
      refusals: [
        { id: 91, datetime: "2027-05-12T06:43:58.104218Z", list: 1, gate: 1, device_id: 2, reason: "already_redeemed" },
      ],
      doubles: { count: 1, explained: 1 },
      alarms: [openAlarm],
    },
  },
  lastHour: {
    status: "ok",
    answer: {
      at: "2027-05-12T06:44:03Z",
      minutes: [{ at: "2027-05-12T06:43:00Z", gate: 1, entries: 38, exits: 2, refused: 1 }],
    },
  },
} satisfies Record<string, Example>;
