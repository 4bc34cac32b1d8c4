import { isTransient } from "@tessera/kit/fault";
import { DocumentKind, type ListDocumentsResponse } from "@tessera/protos/gen/ticketing/boxoffice/v1/catalogue";
import type { ReportDayResponse, ReportedPlace } from "@tessera/protos/gen/ticketing/checkin/v1/day_report";
import { isObject } from "@tessera/values";
import type { Clients } from "../../clients.ts";
import type { Incoming } from "../../http/route.ts";

export interface PlaceNames {
  readonly catalogue: Clients["catalogue"];
  /** The names of devices of an organizer, revoked ones too. */
  readonly findDeviceNames: (organizer: string, devices: readonly number[]) => Promise<ReadonlyMap<number, string>>;
}

type Asking = Pick<Incoming, "organizer" | "inAnyEvent" | "signal">;

const pageSize = 50;

/** Two thousand gates. */
const mostPages = 40;

/**
 * Adds the names of gates and devices, which check-in does not know. Those of deleted ones are unknown, and those of gates while boxoffice
 * does not answer.
 */
export async function namePlaces(
  report: ReportDayResponse,
  request: Asking,
  names: PlaceNames,
): Promise<ReportDayResponse> {
  const devices = report.devices.flatMap(({ id }) => id ?? []);
  const [gateNames, deviceNames] = await Promise.all([
    report.gates.some(({ id }) => id !== undefined)
      ? findGateNames(request, names).catch(whileAway)
      : new Map<number, string>(),
    devices.length === 0 ? new Map<number, string>() : names.findDeviceNames(request.organizer, devices),
  ]);
  return { ...report, gates: named(report.gates, gateNames), devices: named(report.devices, deviceNames) };
}

function whileAway(error: unknown): ReadonlyMap<number, string> {
  if (isTransient(error)) return new Map();
  throw error;
}

const named = (places: readonly ReportedPlace[], names: ReadonlyMap<number, string>) =>
  places.map((place) => ({ ...place, name: place.id === undefined ? undefined : names.get(place.id) }));

async function findGateNames(
  { inAnyEvent, signal }: Asking,
  { catalogue }: PlaceNames,
): Promise<ReadonlyMap<number, string>> {
  const names = new Map<number, string>();
  const asked = { kind: DocumentKind.GATE, pageSize, ordering: ["id"] };
  for (let page = 1; page <= mostPages; page += 1) {
    const { documents, count } = await catalogue.listDocuments(inAnyEvent({ ...asked, page }), { signal });
    for (const [id, name] of documents.map(readGate)) names.set(id, name);
    if (count <= page * pageSize) break;
  }
  return names;
}

function readGate({ json }: ListDocumentsResponse["documents"][number]): readonly [number, string] {
  const gate: unknown = JSON.parse(json.toString());
  if (!isObject(gate)) throw new Error("boxoffice answered with a gate that is no object");
  return [Number(gate["id"]), String(gate["name"])];
}
