import { topics } from "@tessera/protos/topics";
import { compileReader, type Reading } from "@tessera/records/read";
import { salesChannelRecord } from "@tessera/resources/records/sales-channel";
import type { TypeOf } from "@tessera/schema/schema";
import { catalogueKind } from "./catalogue-kind.ts";
import type { RecordKind } from "./kind.ts";

type SalesChannel = TypeOf<typeof salesChannelRecord>;

/** A way of selling tickets. `web` exists without a record. */
export const salesChannel: RecordKind<Reading<SalesChannel>> = catalogueKind({
  table: "sales_channel",
  schema: salesChannelRecord,
  read: compileReader(salesChannelRecord),
  fact: {
    topic: topics.salesChannelChanged,
    of: ({ scope: { organizer }, data: { identifier }, revision }) => ({ organizer, identifier, revision }),
  },
});
