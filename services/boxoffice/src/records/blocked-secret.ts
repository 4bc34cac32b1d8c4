import { topics } from "@tessera/protos/topics";
import { compileReader, type Reading } from "@tessera/records/read";
import { verbatim } from "@tessera/records/schema-parts";
import { boolean, id, instant, object } from "@tessera/schema/build";
import type { TypeOf } from "@tessera/schema/schema";
import { catalogueKind } from "./catalogue-kind.ts";
import type { RecordKind } from "./kind.ts";

const schema = object(
  {
    id: id(),
    secret: verbatim(1000),
    blocked: boolean({ default: true, description: "False: it was blocked before and is not any more." }),
    updated: instant(),
  },
  { required: ["id", "secret", "updated"] },
);

type BlockedSecret = TypeOf<typeof schema>;

/** A secret that is blocked, or was. Devices that are offline learn from it which tickets to refuse. */
export const blockedSecret: RecordKind<Reading<BlockedSecret>> = catalogueKind({
  table: "blocked_secret",
  schema,
  read: compileReader(schema),
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
