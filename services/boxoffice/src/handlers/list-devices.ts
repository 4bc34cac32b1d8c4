import type { Db } from "@tessera/kit/pg/database";
import type { ListDevicesRequest, ListDevicesResponse } from "@tessera/protos/gen/ticketing/boxoffice/v1/credentials";
import type { StoredDevice } from "../records/credential-fact.ts";
import { toDeviceState } from "./credential-messages.ts";
import { pageCredentials } from "./page-credentials.ts";

/** Pages through the devices of an organizer, revoked ones included. */
export async function listDevices(request: ListDevicesRequest, { db }: { db: Db }): Promise<ListDevicesResponse> {
  const { count, page, found } = await pageCredentials<StoredDevice>(db, "device", request);
  return { devices: found.map(toDeviceState), count, page };
}
