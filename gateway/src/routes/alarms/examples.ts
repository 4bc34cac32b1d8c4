import { examplePage } from "../../http/example-page.ts";
import type { Example } from "../../http/route.ts";

export const openAlarm = {
  ...{ id: 3, kind: "gate_silent", gate: 1, device_id: null, list: null },
  ...{ raised: "2027-05-12T06:42:10.402981Z", ended: null, acknowledged: null, acknowledged_by: null },
  ...{ since: "2027-05-12T06:41:02.731150Z", measured: null, usual: 18.4 },
};

const seen = { acknowledged: "2027-05-12T06:42:31.104218Z", acknowledged_by: "Control room" };

export const alarmExamples = {
  list: { status: "ok", query: { open: true }, answer: examplePage(openAlarm) },
  acknowledge: { status: "ok", answer: { ...openAlarm, ...seen } },
} satisfies Record<string, Example>;
