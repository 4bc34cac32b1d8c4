import { topics } from "@tessera/protos/topics";
import { compileReader, type Reading } from "@tessera/records/read";
import { blockedSecretRecord } from "@tessera/resources/records/secrets";
import type { TypeOf } from "@tessera/schema/schema";
import { catalogueKind } from "./catalogue-kind.ts";
import type { RecordKind } from "./kind.ts";

type BlockedSecret = TypeOf<typeof blockedSecretRecord>;

/** A secret that is or was blocked. Offline devices learn from it which tickets to refuse. */
export const blockedSecret: RecordKind<Reading<BlockedSecret>> = catalogueKind({
  table: "blocked_secret",
  schema: blockedSecretRecord,
  read: compileReader(blockedSecretRecord),
  fact: {
    topic: topics.blockedSecretChanged,
    of: ({ scope, data, revision }) => ({
      ...scope,
      id: data.id,
      revision,
      secret: data.secret,
      blocked: data.blocked,
    }),
  },
});
