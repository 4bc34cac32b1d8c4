import type { Alarm } from "@tessera/protos/gen/ticketing/checkin/v1/alarms";
import { formatInstant } from "@tessera/values";

export function presentAlarm(alarm: Alarm | undefined) {
  if (alarm === undefined) throw new Error("checkin answered without an alarm");
  const { id, kind, gate, device, list, raisedAt, endedAt, acknowledgedAt, acknowledgedBy, sinceAt } = alarm;
  return {
    ...{ id, kind, gate: gate ?? null, device_id: device ?? null, list: list ?? null },
    ...{ raised: formatInstant(raisedAt), ended: orNull(endedAt) },
    ...{ acknowledged: orNull(acknowledgedAt), acknowledged_by: acknowledgedBy ?? null },
    ...{ since: orNull(sinceAt), measured: rounded(alarm.measured), usual: rounded(alarm.usual) },
  };
}

function orNull(instant: number | undefined): string | null {
  return instant === undefined ? null : formatInstant(instant);
}

function rounded(value: number | undefined): number | null {
  return value === undefined ? null : Math.round(value * 1000) / 1000;
}
