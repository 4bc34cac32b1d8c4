import { keepCopy } from "@tessera/kit/bus/keep-copy";
import { bigint, copyTable, text } from "@tessera/kit/pg/table";
import { topics } from "@tessera/protos/topics";
import { entityKey } from "../store/keys.ts";

const revokedSecrets = copyTable("revoked_secret", {
  key: entityKey,
  columns: { secret: text, position: bigint.orNull },
});

export const revokedSecretChanged = keepCopy(topics.revokedSecretChanged, revokedSecrets, (fact) => fact);
