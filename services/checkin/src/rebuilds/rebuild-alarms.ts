import { header } from "@tessera/kit/bus/headers";
import type { Rebuild } from "@tessera/kit/bus/rebuild-topics";
import { topics } from "@tessera/protos/topics";
import type { EntityKey } from "../store/keys.ts";
import { publishFacts } from "../store/publish-facts.ts";
import { countAllAlarms, lastAlarmId, nextAlarms } from "../store/republish-alarms.ts";
import type { StoredAlarm } from "../store/stored-alarms.ts";
import { toAlarmFact } from "../wire/alarm-messages.ts";

/** Publishes the newest state of all alarms again, with its fact id: a consumer knows it by its inbox. They are kept as long as the topic keeps facts. */
export const rebuildAlarms: Rebuild<EntityKey> = {
  topic: topics.alarmChanged,
  drawCutoff: lastAlarmId,
  count: countAllAlarms,
  async publishNext(tx, { after, limit, cutoff }) {
    const alarms = await nextAlarms(tx, { after, upTo: cutoff, limit });
    const last = alarms.at(-1);
    if (last === undefined) return undefined;
    await publishFacts(tx, topics.alarmChanged.name, alarms.map(toFact));
    const { organizer, event, id } = last;
    return { last: { organizer, event, id }, published: alarms.length };
  },
};

function toFact(alarm: StoredAlarm) {
  const changedAt = Math.max(alarm.raisedAt, alarm.acknowledgedAt ?? 0, alarm.endedAt ?? 0);
  return {
    ...toAlarmFact(alarm),
    // The inbox of a consumer is partitioned by the day of the first publication.
    headers: { [header.at]: String(changedAt), [header.writtenAt]: String(Date.now() * 1000) },
  };
}
