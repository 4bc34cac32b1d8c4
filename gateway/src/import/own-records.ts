import type { Record as WireRecord } from "@tessera/protos/gen/ticketing/records/v1/records";
import { isAddressedByEvent, type RecordKindName } from "@tessera/protos/record-kinds";
import { devicePermissions, type Permission, resolvePermissions } from "@tessera/values";
import { holds, type Tenant } from "../access/caller.ts";
import type { LineError } from "./summary.ts";

/** Who sends records on behalf of one organizer. */
export type RecordSender = Pick<Tenant, "organizer" | "permissions" | "events">;

/**
 * Finds why an API key may not bring a record: it is of another organizer, or of an event that the key is not for; or it
 * makes a key or a device that may do what its sender may not. Undefined: it may bring it.
 */
export function findNotOwn(record: WireRecord, sender: RecordSender): LineError["errors"] | undefined {
  const kind = record.kind as RecordKindName;
  const { organizer, events } = sender;
  if (record.organizer !== organizer) return { organizer: [`This key brings records of ${organizer} alone.`] };
  if (events !== undefined && !isAddressedByEvent(kind))
    return { kind: [`Records of kind ${kind} are not of one event: they take a key for all events.`] };
  if (events?.has(record.event) === false) return { event: ["This key is not for this event."] };
  if (kind === "organizer" && record.deleted) return { deleted: ["The operator alone removes an organizer."] };
  if (kind === "api_key" && !record.deleted) return findExcess(record, sender);
  if (kind === "device" && !record.deleted) return findDeviceExcess(sender);
  return undefined;
}

/** The data of a record, whatever it is. */
const dataOf = ({ data }: WireRecord) => JSON.parse(Buffer.from(data).toString()) as Readonly<Record<string, unknown>>;

const credentialKinds: ReadonlySet<string> = new Set(["api_key", "device"] satisfies RecordKindName[]);

/**
 * Finds why neither a key nor the operator may bring a credential: its token is the key of the operator, and would be one of that organizer when
 * the operator has exchanged the key. Undefined: it may be brought.
 */
export function findOperatorKey(
  record: WireRecord,
  isOperatorKey: (token: string) => boolean,
): LineError["errors"] | undefined {
  if (record.deleted || !credentialKinds.has(record.kind)) return undefined;
  const { token } = dataOf(record);
  return typeof token === "string" && isOperatorKey(token)
    ? { token: ["This is the key of the operator: draw another token."] }
    : undefined;
}

function findExcess(record: WireRecord, sender: RecordSender): LineError["errors"] | undefined {
  const { permissions } = dataOf(record);
  // What is no list of names is refused by its owner.
  const names = Array.isArray(permissions) ? permissions.filter((name) => typeof name === "string") : [];
  const lacking = findLacking(resolvePermissions(names), sender);
  return lacking === "" ? undefined : { permissions: [`This key gives no more than it has: ${lacking}.`] };
}

function findDeviceExcess(sender: RecordSender): LineError["errors"] | undefined {
  const lacking = findLacking([...devicePermissions], sender);
  return lacking === "" ? undefined : { kind: [`A device may do more than this key, which lacks ${lacking}.`] };
}

/** Names that are no permissions are lacking, too. */
function findLacking(names: readonly string[], sender: RecordSender): string {
  return names.filter((name) => !holds(sender, name as Permission)).join(", ");
}
