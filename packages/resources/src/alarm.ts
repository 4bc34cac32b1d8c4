/** What alarms tell of. Others may follow. */
export const alarmKinds = [
  "gate_silent",
  "rate_fell",
  "refusals_rose",
  "clock_off",
  "queue_grows",
  "limit_near",
] as const;

export type AlarmKind = (typeof alarmKinds)[number];
