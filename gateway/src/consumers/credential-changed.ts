import { keepCopy } from "@tessera/kit/bus/keep-copy";
import { CredentialKind } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { topics } from "@tessera/protos/topics";
import { announceChange, type Forgetful } from "../access/change-notice.ts";
import { credentials, type CredentialKind as StoredKind, storeCredentials } from "../store/credentials.ts";

/** A kind that only a newer boxoffice knows is not copied: no request authenticates with it. */
const kinds: ReadonlyMap<string, StoredKind> = new Map([
  [CredentialKind.API_KEY, "api_key"],
  [CredentialKind.DEVICE, "device"],
]);

/** Keeps our copy of API keys and devices. */
export const credentialChanged = keepCopy(
  topics.credentialChanged,
  credentials,
  ({ device, ...fact }) => {
    const kind = kinds.get(fact.kind);
    if (kind === undefined) return undefined;
    return {
      ...fact,
      kind,
      device: device && {
        deviceId: device.deviceId,
        gate: device.gate?.id ?? null,
        securityProfile: device.securityProfile,
        softwareBrand: device.softwareBrand,
      },
    };
  },
  {
    store: storeCredentials,
    afterChange: announceChange,
    afterDelivery: ({ directory }: Forgetful) => directory.forget(),
  },
);
