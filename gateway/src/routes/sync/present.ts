import type { Reply } from "../../http/route.ts";

/** The cursor leads nowhere any more. */
export const tooOld: Reply = {
  status: "gone",
  body: { detail: "This cursor is too old, or of other events. Begin without it." },
};
