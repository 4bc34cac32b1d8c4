import { type Consumer, consume } from "@tessera/kit/bus/consume";
import type { Db } from "@tessera/kit/pg/database";
import { topics } from "@tessera/protos/topics";
import { removeEntities, removeOlder } from "../store/keys.ts";
import { putRevokedSecrets } from "../store/revoked-secrets.ts";
import { toRevokedSecretCopy } from "../wire-facts.ts";
import { newestStates } from "./newest-states.ts";

/** Keeps our copy of revoked secrets. */
export function revokedSecretChanged(db: Db): Consumer {
  return consume(
    topics.revokedSecretChanged,
    db,
    async (tx, facts) => {
      const { gone, changed } = newestStates(facts);
      await removeEntities(tx, "revoked_secret", gone);
      await putRevokedSecrets(tx, changed.map(toRevokedSecretCopy));
    },
    { sweep: (tx, { before }) => removeOlder(tx, "revoked_secret", before) },
  );
}
