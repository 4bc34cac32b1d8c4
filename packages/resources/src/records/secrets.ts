import { boolean, field, id, instant, object } from "@tessera/schema/build";
import { idOrNull, longAgo, verbatim } from "./parts.ts";

const secret = field(verbatim(1000), "The secret, to the letter.", "k24fiuwvu8kxz3y1");

export const revokedSecretRecord = object(
  {
    id: field(id(), "Its id.", 1),
    secret,
    created: field(instant(longAgo), "When it was revoked."),
    position: field(idOrNull(), "The id of the position that had the secret.", 1001),
  },
  { required: ["id", "secret"] },
);

export const blockedSecretRecord = object(
  {
    id: field(id(), "Its id.", 1),
    secret,
    blocked: field(boolean({ default: true }), "False: it was blocked before and is not any more."),
    updated: field(instant(longAgo), "When it was blocked or opened."),
  },
  { required: ["id", "secret"] },
);
