import type { Db } from "@tessera/kit/pg/database";
import type { Handler } from "@tessera/kit/rpc";
import type { ListDevicesRequest, ListDevicesResponse } from "@tessera/protos/gen/ticketing/boxoffice/v1/credentials";
import type { StoredDevice } from "../records/credential-fact.ts";
import { toDeviceState } from "./credential-messages.ts";
import { pageCredentials } from "./page-credentials.ts";

/** Pages through the devices of an organizer, revoked ones included. */
export function listDevices({ db }: { db: Db }): Handler<ListDevicesRequest, ListDevicesResponse> {
  return async (request) => {
    const { count, page, found } = await pageCredentials<StoredDevice>(db, "device", request);
    return { devices: found.map(toDeviceState), count, page };
  };
}
