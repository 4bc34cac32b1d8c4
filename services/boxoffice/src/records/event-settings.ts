import { arrayOf, boolean, integer, object, orPlain, text } from "@tessera/kit/schema-build";
import { topics } from "@tessera/protos/topics";
import { compileReader, type Reading, type Rule } from "@tessera/records/read";
import { lineOrNull, names, storableText } from "@tessera/records/schema-parts";
import { isTimeZone } from "@tessera/values";
import * as events from "../store/events.ts";
import { type EventDocument, type EventSettings, eventFact } from "./event-fact.ts";
import type { RecordKind, Run } from "./kind.ts";

/** A text per language; where there is none, it may be sent as null or as an empty text. */
const infoText = orPlain(names(), ["string", "null"], { ...storableText, maxLength: 10_000, default: null });

const schema = object({
  locale: text({ default: "en", blank: false, maxLength: 50 }),
  locales: arrayOf(text({ blank: false, maxLength: 50 }), { default: ["en"], maxItems: 200 }),
  region: lineOrNull(50),
  timezone: lineOrNull(),
  ticket_download: boolean({ default: false }),
  ticket_download_date: lineOrNull(),
  ticket_download_addons: boolean({ default: false }),
  ticket_download_nonadm: boolean({ default: true }),
  ticket_download_pending: boolean({ default: false }),
  ticketoutput_pdf__enabled: boolean({ default: true }),
  ticket_secret_length: integer({ default: 32, minimum: 12, maximum: 64 }),
  ticket_secret_generator: text({ default: "random", blank: false, maxLength: 50 }),
  name_scheme: text({ default: "full", blank: false, maxLength: 50 }),
  show_date_to: boolean({ default: true }),
  show_times: boolean({ default: true }),
  organizer_info_text: infoText,
  event_info_text: infoText,
});

/** Finds what is no IANA time zone. */
export const timeZoneRule: Rule = (name) =>
  typeof name === "string" && !isTimeZone(name)
    ? "There is no time zone of this name. Use an IANA name, for instance Europe/Berlin."
    : undefined;

const read = compileReader(schema, { rules: { timezone: timeZoneRule } });

/** What holds where no record says otherwise. */
export const defaultSettings: Reading<EventSettings> = mustRead({});

/** The settings of an event: a part of it that has a record of its own. */
export const eventSettings: RecordKind<Reading<EventSettings>> = {
  name: "event_settings",
  schema,
  read,
  // Its event is its key.
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
