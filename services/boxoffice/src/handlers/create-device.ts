import type { Log } from "@tessera/kit/log";
import type { Db } from "@tessera/kit/pg/database";
import type { CreateDeviceRequest, CreateDeviceResponse } from "@tessera/protos/gen/ticketing/boxoffice/v1/credentials";
import type { StoredDevice } from "../records/credential-fact.ts";
import { device, deviceOf, readDeviceFields } from "../records/device.ts";
import * as credentials from "../store/credentials.ts";
import * as ids from "../store/id-sequences.ts";
import { readTokenHash, toDeviceData, toDeviceState } from "./credential-messages.ts";
import { createOnce, lockOrganizer, readFields, requireOrganizer, storeNew } from "./store-credential.ts";

/**
 * Creates a device under the next number, which is above all that records brought along. A token that one has already is
 * a request that comes again: it changes nothing.
 */
export async function createDevice(
  { organizer, tokenHash: bytes, fields }: CreateDeviceRequest,
  { db, log }: { db: Db; log: Log },
): Promise<CreateDeviceResponse> {
  const tokenHash = readTokenHash(bytes);
  const { found, isNew } = await db.transaction(async (tx) => {
    await lockOrganizer(tx, organizer);
    await requireOrganizer(tx, organizer);
    const find = () => credentials.findByToken<StoredDevice>(tx, { organizer, kind: "device", tokenHash });
    return createOnce(find, async () => {
      const data = { device_id: await ids.next(tx, "device_id_seq"), ...toDeviceData(fields) };
      const { reading, errors } = readFields(readDeviceFields, data);
      await storeNew(tx, device, { organizer, value: deviceOf(tokenHash, reading), errors });
    });
  });
  if (isNew) log.info("a device was created", { organizer, device: found.id });
  return { device: toDeviceState(found) };
}
