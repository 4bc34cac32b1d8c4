import type { Log } from "@tessera/kit/log";
import type { Db, Tx } from "@tessera/kit/pg/database";
import type { RevokeDeviceRequest, RevokeDeviceResponse } from "@tessera/protos/gen/ticketing/boxoffice/v1/credentials";
import { fault } from "../faults.ts";
import type { StoredDevice } from "../records/credential-fact.ts";
import { device, deviceOf } from "../records/device.ts";
import * as credentials from "../store/credentials.ts";
import { toDeviceState } from "./credential-messages.ts";
import { lockOrganizer, requireOrganizer, storeAgain } from "./store-credential.ts";

/** Revokes the access of a device. It stays: a scanner that hears it was revoked forgets what it holds of the event. */
export async function revokeDevice(
  { organizer, deviceId }: RevokeDeviceRequest,
  { db, log }: { db: Db; log: Log },
): Promise<RevokeDeviceResponse> {
  const { revoked, changed } = await db.transaction(async (tx) => {
    await lockOrganizer(tx, organizer);
    await requireOrganizer(tx, organizer);
    const found = await findOne(tx, organizer, deviceId);
    if (found.data.revoked) return { revoked: found, changed: false };
    const data = { ...found.data, revoked: true };
    const value = deviceOf(found.tokenHash, { data, document: JSON.stringify(data) });
    await storeAgain(tx, device, { organizer, value });
    return { revoked: await findOne(tx, organizer, deviceId), changed: true };
  });
  if (changed) log.info("a device was revoked", { organizer, device: revoked.id });
  return { device: toDeviceState(revoked) };
}

async function findOne(
  tx: Tx,
  organizer: string,
  deviceId: number,
): Promise<credentials.StoredCredential<StoredDevice>> {
  const found = await credentials.find<StoredDevice>(tx, { organizer, kind: "device", id: String(deviceId) });
  if (found === undefined) throw fault("device_not_found", "The organizer has no such device.");
  return found;
}
