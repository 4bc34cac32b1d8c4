import { topics } from "@tessera/protos/topics";
import { compileReader, type Reading, type Rule } from "@tessera/records/read";
import { type EventDocument, type EventSettings, eventSettingsRecord } from "@tessera/resources/records/event";
import { isTimeZone } from "@tessera/values";
import * as events from "../store/events.ts";
import { eventFact } from "../wire/event-fact.ts";
import type { RecordKind, Run } from "./kind.ts";

/** Refuses unknown IANA time zones. */
export const timeZoneRule: Rule = (name) =>
  typeof name === "string" && !isTimeZone(name)
    ? "There is no time zone of this name. Use an IANA name, for instance Europe/Berlin."
    : undefined;

const read = compileReader(eventSettingsRecord, { rules: { timezone: timeZoneRule } });

export const defaultSettings: Reading<EventSettings> = mustRead({});

/** The settings of an event, which have a record of their own. */
export const eventSettings: RecordKind<Reading<EventSettings>> = {
  name: "event_settings",
  schema: eventSettingsRecord,
  read,
  // The event is the key.
  readKey: () => ({ ok: true, value: "" }),
  keyOf: () => "",
  async store(tx, { scope, values }: Pick<Run<Reading<EventSettings>>, "scope" | "values">) {
    for (const { document } of values) {
      const changed = await events.replaceSettings<EventDocument, EventSettings>(tx, scope, document);
      await tx.publish(
        topics.eventChanged,
        changed.map((event) => eventFact(scope.organizer, event, defaultSettings.data)),
      );
    }
  },
  async remove(tx, { scope }) {
    const changed = await events.replaceSettings<EventDocument, EventSettings>(tx, scope, "{}");
    await tx.publish(
      topics.eventChanged,
      changed.map((event) => eventFact(scope.organizer, event, defaultSettings.data)),
    );
  },
};

function mustRead(data: object): Reading<EventSettings> {
  const checked = read(data);
  if (!checked.ok) throw new Error(`the defaults are refused: ${Object.keys(checked.errors).join(", ")}`);
  return checked.value;
}
