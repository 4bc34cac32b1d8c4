import { keepCopy } from "@tessera/kit/bus/keep-copy";
import { boolean, copyTable, text } from "@tessera/kit/pg/table";
import { topics } from "@tessera/protos/topics";
import { entityKey } from "../store/keys.ts";

const blockedSecrets = copyTable("blocked_secret", { key: entityKey, columns: { secret: text, blocked: boolean } });

/** Keeps our copy of blocked secrets, and of those no longer blocked. */
export const blockedSecretChanged = keepCopy(topics.blockedSecretChanged, blockedSecrets, (fact) => fact);
