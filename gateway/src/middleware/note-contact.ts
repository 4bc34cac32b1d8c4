import type { DeviceContacts } from "../access/remember-contacts.ts";
import type { Step } from "../http/step.ts";

/** Notes that a device was heard of, and what it says of itself. */
export function noteContact(contacts: DeviceContacts): Step {
  return (ctx) => {
    const { caller } = ctx.state;
    if (caller?.kind === "device") contacts.noteRequest(caller, (name) => ctx.get(name));
    return undefined;
  };
}
