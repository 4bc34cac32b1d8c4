import type { Job } from "@tessera/kit/jobs/interval";
import type { Db } from "@tessera/kit/pg/database";
import type { DeviceContacts } from "../access/remember-contacts.ts";
import { storeContacts } from "../store/device-contacts.ts";

/** A device that is silent for a minute is worth a look. */
const everyMs = 10_000;

/** Stores what this process has heard of devices. */
export function storeDeviceContacts({ db, contacts }: { readonly db: Db; readonly contacts: DeviceContacts }): Job {
  return {
    name: "store-device-contacts",
    everyMs,
    run: () => storeContacts(db, contacts.take()),
  };
}
