import type { Consumer } from "@tessera/kit/bus/consume";
import type { Db } from "@tessera/kit/pg/database";
import { topics } from "@tessera/protos/topics";
import { putBlockedSecrets } from "../store/blocked-secrets.ts";
import { keepEntities } from "./keep-copy.ts";
import { toBlockedSecretCopy } from "./read-facts.ts";

/** Keeps our copy of secrets that are blocked, or were. */
export function blockedSecretChanged(db: Db): Consumer {
  return keepEntities(topics.blockedSecretChanged, db, {
    table: "blocked_secret",
    put: (tx, changed) => putBlockedSecrets(tx, changed.map(toBlockedSecretCopy)),
  });
}
