import type { LiveAlarm, LiveDevice, LiveList } from "./live.ts";
import type { Word } from "./words/en.ts";

/** The languages that alarms are said in differ; these make the parts. */
export interface Speech {
  readonly say: (word: Word, values?: Readonly<Record<string, string | number>>) => string;
  readonly sayNumber: (value: number) => string;
  readonly sayShare: (share: number) => string;
  readonly saySpan: (ms: number) => string;
}

export interface AlarmPlace {
  /** The time of the state, in milliseconds: the clock of this device may be wrong. */
  readonly now: number;
  readonly nameOf: (gate: number | null) => string;
  readonly devices: readonly LiveDevice[];
  readonly lists: readonly LiveList[];
}

/** Says an alarm in one sentence. An alarm that this page does not know is said by its kind. */
export function sayAlarm(alarm: LiveAlarm, { now, nameOf, devices, lists }: AlarmPlace, speech: Speech): string {
  const { kind, gate, measured, usual, since } = alarm;
  const { say, sayNumber, sayShare, saySpan } = speech;
  const device = devices.find(({ device_id }) => device_id === alarm.device_id);
  const at = device === undefined || device.gate === null ? "" : ` (${nameOf(device.gate)})`;
  const named = {
    gate: nameOf(gate),
    device: `${device?.name ?? say("device_without_name", { id: alarm.device_id ?? 0 })}${at}`,
  };
  switch (kind) {
    case "gate_silent":
      return say("alarm_gate_silent", { ...named, span: saySpan(now - Date.parse(since ?? alarm.raised)) });
    case "rate_fell":
      return say("alarm_rate_fell", { ...named, rate: whole(measured), usual: whole(usual) });
    case "refusals_rose":
      return say("alarm_refusals_rose", { ...named, share: sayShare(measured ?? 0), usual: sayShare(usual ?? 0) });
    case "clock_off":
      return say("alarm_clock_off", { ...named, span: saySpan((measured ?? 0) * 1000) });
    case "queue_grows":
      return say("alarm_queue_grows", { ...named, count: sayNumber(device?.queue ?? measured ?? 0) });
    case "limit_near": {
      const list = lists.find(({ id }) => id === alarm.list);
      const count = sayNumber(list?.limit?.persons ?? measured ?? 0);
      return say("alarm_limit_near", { list: list?.name ?? "", count, limit: sayNumber(usual ?? 0) });
    }
    default:
      return say("alarm_other", { kind });
  }

  function whole(value: number | null): string {
    return sayNumber(Math.round(value ?? 0));
  }
}
