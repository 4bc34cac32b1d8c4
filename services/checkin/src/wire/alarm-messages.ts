import { deriveFactId } from "@tessera/kit/bus/fact-id";
import type { Alarm } from "@tessera/protos/gen/ticketing/checkin/v1/alarms";
import { topics } from "@tessera/protos/topics";
import type { StoredAlarm } from "../store/stored-alarms.ts";

export function toAlarm(alarm: StoredAlarm): Alarm {
  return {
    ...toSubject(alarm),
    ...toTimes(alarm),
    acknowledgedBy: alarm.acknowledgedBy ?? undefined,
    sinceAt: alarm.since ?? undefined,
    measured: alarm.measured ?? undefined,
    usual: alarm.usual ?? undefined,
  };
}

/** Writes the fact of the state of an alarm; its id follows from the state. Each alarm passes each state once at most. */
export function toAlarmFact(alarm: StoredAlarm): {
  readonly id: string;
  readonly key: string;
  readonly payload: Uint8Array;
} {
  const { organizer, event, id, raisedAt, acknowledgedAt, endedAt } = alarm;
  const fact = { organizer, event, ...toSubject(alarm), ...toTimes(alarm) };
  const { name, key, encode } = topics.alarmChanged;
  return {
    // The times are part of the id: a database restored from a backup gives ids of alarms again.
    id: deriveFactId(`${name} ${organizer}/${event}/${id} ${raisedAt} ${acknowledgedAt ?? ""} ${endedAt ?? ""}`),
    key: key(fact),
    payload: encode(fact),
  };
}

function toSubject({ id, kind, gate, device, list }: StoredAlarm) {
  return { id, kind, gate: gate ?? undefined, device: device ?? undefined, list: list ?? undefined };
}

function toTimes({ raisedAt, endedAt, acknowledgedAt }: StoredAlarm) {
  return { raisedAt, endedAt: endedAt ?? undefined, acknowledgedAt: acknowledgedAt ?? undefined };
}
