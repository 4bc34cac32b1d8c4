import type {
  ApiKeyFields,
  ApiKeyState,
  DeviceFields,
  DeviceState,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/credentials";
import type { ApiKeyBody, DeviceBody } from "./schema.ts";

/** Enough to find a key by. The whole hash would let whoever sees it test a guessed token. */
const shownLength = 16;

/** The fields of an API key. */
export function presentApiKey({ id, fields }: ApiKeyState) {
  if (fields === undefined) throw new Error("boxoffice answered without the fields of an API key");
  const { name, permissions, allEvents, events, active } = fields;
  return { id: id.slice(0, shownLength), name, permissions, all_events: allEvents, events, active };
}

/** The fields of a device. */
export function presentDevice({ deviceId, fields }: DeviceState) {
  if (fields === undefined) throw new Error("boxoffice answered without the fields of a device");
  return {
    device_id: deviceId,
    name: fields.name,
    gate: fields.gate ?? null,
    security_profile: fields.securityProfile,
    software_brand: fields.softwareBrand,
    all_events: fields.allEvents,
    events: fields.events,
    revoked: fields.revoked,
  };
}

/** What a body says of an API key, for boxoffice. */
export function toApiKeyFields(body: ApiKeyBody): ApiKeyFields {
  const { name, permissions, all_events: allEvents, events, active } = body;
  return { name, permissions: [...permissions], allEvents, events: [...events], active };
}

/** What a body says of a device, for boxoffice. A profile or brand of null is what leaving it out is. */
export function toDeviceFields(body: DeviceBody): DeviceFields {
  return {
    name: body.name,
    gate: body.gate ?? undefined,
    securityProfile: body.security_profile ?? "full",
    softwareBrand: body.software_brand ?? "",
    allEvents: body.all_events,
    events: [...body.events],
    revoked: body.revoked,
  };
}
