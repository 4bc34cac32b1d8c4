import { fields } from "@tessera/kit/fields";
import type { TypeOf } from "@tessera/kit/schema";
import {
  ApiKeyFields,
  type ApiKeyState,
  DeviceFields,
  type DeviceState,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/credentials";
import { apiKey, device, type sentDevice } from "@tessera/resources/credential";

export const apiKeyFields = fields(apiKey, ApiKeyFields);
const deviceFields = fields(device, DeviceFields);

/** Enough to find a key by. With the whole hash, a guessed token could be tested. */
const shownLength = 16;

export function presentApiKey({ id, fields: ofKey }: ApiKeyState) {
  if (ofKey === undefined) throw new Error("boxoffice answered without the fields of an API key");
  return { id: id.slice(0, shownLength), ...apiKeyFields.present(ofKey) };
}

export function presentDevice({ deviceId, fields: ofDevice }: DeviceState) {
  if (ofDevice === undefined) throw new Error("boxoffice answered without the fields of a device");
  return { device_id: deviceId, ...deviceFields.present(ofDevice) };
}

/** What a body says of a device, for boxoffice. A profile or brand of null is what leaving it out is. */
export function toDeviceFields(body: TypeOf<typeof sentDevice>): DeviceFields {
  return deviceFields.toMessage({
    ...body,
    security_profile: body.security_profile ?? "full",
    software_brand: body.software_brand ?? "",
  });
}
