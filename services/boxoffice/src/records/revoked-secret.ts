import { topics } from "@tessera/protos/topics";
import { compileReader, type Reading } from "@tessera/records/read";
import { notKnown, refuseEach } from "@tessera/records/validate";
import { revokedSecretRecord } from "@tessera/resources/records/secrets";
import type { TypeOf } from "@tessera/schema/schema";
import { catalogueKind } from "./catalogue-kind.ts";
import type { RecordKind } from "./kind.ts";

type RevokedSecret = TypeOf<typeof revokedSecretRecord>;

/** A former secret of a ticket, which does not admit any more. */
export const revokedSecret: RecordKind<Reading<RevokedSecret>> = {
  ...catalogueKind({
    table: "revoked_secret",
    schema: revokedSecretRecord,
    read: compileReader(revokedSecretRecord),
    fact: {
      topic: topics.revokedSecretChanged,
      of: ({ scope, data, revision }) => ({
        ...scope,
        id: data.id,
        revision,
        secret: data.secret,
        position: data.position ?? undefined,
      }),
    },
  }),
  mention({ data }, mentioned) {
    if (data.position !== null) mentioned.positions.add(data.position);
  },
  doubt: ({ values, known }) =>
    refuseEach(values, ({ data: { position } }, addWarning) => {
      if (position !== null && !known.positions.has(position)) addWarning("position", notKnown(`position ${position}`));
    }),
};
