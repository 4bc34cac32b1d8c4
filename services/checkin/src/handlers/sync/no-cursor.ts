import type { Fault } from "@tessera/kit/fault";
import { fault } from "../../faults.ts";

const message = "This is not a cursor of this feed.";

/** The text is no cursor, or none of what the reader asks for. */
export function noCursor(): Fault {
  return fault("invalid_cursor", message, { fields: { after: [message] } });
}
