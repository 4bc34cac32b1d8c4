import { type Consumer, consume } from "@tessera/kit/bus/consume";
import type { Db } from "@tessera/kit/pg/database";
import { topics } from "@tessera/protos/topics";
import { putBlockedSecrets } from "../store/blocked-secrets.ts";
import { removeEntities, removeOlder } from "../store/keys.ts";
import { toBlockedSecretCopy } from "../wire-facts.ts";
import { newestStates } from "./newest-states.ts";

/** Keeps our copy of secrets that are blocked, or were. */
export function blockedSecretChanged(db: Db): Consumer {
  return consume(
    topics.blockedSecretChanged,
    db,
    async (tx, facts) => {
      const { gone, changed } = newestStates(facts);
      await removeEntities(tx, "blocked_secret", gone);
      await putBlockedSecrets(tx, changed.map(toBlockedSecretCopy));
    },
    { sweep: (tx, { before }) => removeOlder(tx, "blocked_secret", before) },
  );
}
