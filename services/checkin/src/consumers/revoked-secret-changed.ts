import type { Consumer } from "@tessera/kit/bus/consume";
import type { Db } from "@tessera/kit/pg/database";
import { topics } from "@tessera/protos/topics";
import { putRevokedSecrets } from "../store/revoked-secrets.ts";
import { keepEntities } from "./keep-copy.ts";
import { toRevokedSecretCopy } from "./read-facts.ts";

/** Keeps our copy of revoked secrets. */
export function revokedSecretChanged(db: Db): Consumer {
  return keepEntities(topics.revokedSecretChanged, db, {
    table: "revoked_secret",
    put: (tx, changed) => putRevokedSecrets(tx, changed.map(toRevokedSecretCopy)),
  });
}
