import { entityKey, topics } from "@tessera/protos/topics";
import { compileReader, type Reading } from "@tessera/records/read";
import { organizerRecord } from "@tessera/resources/records/organizer";
import type { TypeOf } from "@tessera/schema/schema";
import * as catalogue from "../store/catalogue-tables.ts";
import * as credentials from "../store/credential-rows.ts";
import { eventBeingRemoved, findRemoved } from "../store/events.ts";
import * as organizers from "../store/organizers.ts";
import { credentialKey } from "../wire/credential-messages.ts";
import { type RecordKind, refuseUsed } from "./kind.ts";

type Organizer = TypeOf<typeof organizerRecord>;

export const organizer: RecordKind<Reading<Organizer>> = {
  name: "organizer",
  schema: organizerRecord,
  read: compileReader(organizerRecord),
  keyOf: ({ data }) => data.slug,
  bring: () => ({}),
  async store(tx, { values }) {
    for (const { data, document } of values) await organizers.upsert(tx, { slug: data.slug, document });
  },
  async refuseRemoval(tx, removal) {
    const [removed] = await findRemoved(tx, removal.keys);
    if (removed !== undefined) throw eventBeingRemoved(removed.event);
    return refuseUsed(tx, "organizer", removal);
  },
  async remove(tx, { keys }) {
    for (const slug of keys) {
      const removed = await credentials.deleteAll(tx, slug);
      await tx.retract(
        topics.credentialChanged,
        removed.map(({ kind, id }) => credentialKey(slug, kind, id)),
      );
      const media = await catalogue.deleteAll(tx, "reusable_medium", { organizer: slug, event: "" });
      await tx.retract(
        topics.reusableMediumChanged,
        media.map((id) => entityKey(slug, "", id)),
      );
      const channels = await catalogue.deleteAll(tx, "sales_channel", { organizer: slug, event: "" });
      await tx.retract(
        topics.salesChannelChanged,
        channels.map((identifier) => entityKey(slug, "", identifier)),
      );
      await organizers.deleteOrganizer(tx, slug);
    }
  },
};
