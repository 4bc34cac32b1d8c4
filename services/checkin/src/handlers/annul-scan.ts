import { countChange, type Presence } from "@tessera/admission";
import { answerOnce } from "@tessera/events/answer-once";
import type { Clock } from "@tessera/kit/clock";
import { currentContext } from "@tessera/kit/context";
import type { Fault } from "@tessera/kit/fault";
import type { Db, Tx } from "@tessera/kit/pg/database";
import type { AnnulScanRequest, AnnulScanResponse } from "@tessera/protos/gen/ticketing/checkin/v1/history";
import { ScanHistory } from "@tessera/protos/services";
import { topics } from "@tessera/protos/topics";
import { type Objection, objectToAnnulment } from "../domain/annulment.ts";
import { fault } from "../faults.ts";
import {
  findScansOfNonce,
  lockPresence,
  lockTicket,
  markAnnulled,
  type ScanOfNonce,
  sumScans,
} from "../store/annulled-scans.ts";
import { addCounts } from "../store/counts.ts";
import { lockForScan } from "../store/failed-scans.ts";
import { listNotFound } from "../store/lists.ts";
import { lockCounts } from "../store/persons-inside.ts";
import { putPresences } from "../store/presences.ts";
import { publishFacts } from "../store/publish-facts.ts";
import { toScanFact } from "../wire/scan-fact.ts";
import type { ListPlaces } from "./list-places.ts";

/** Takes a successful scan back: its ticket may be scanned again. */
export async function annulScan(
  request: AnnulScanRequest,
  { db, clock, listPlaces }: { readonly db: Db; readonly clock: Clock; readonly listPlaces: ListPlaces },
): Promise<AnnulScanResponse> {
  const { organizer, lists, among, nonce, explanation = null, deviceId = null } = request;
  const found = await listPlaces.require({ organizer, lists, among: among?.slugs });
  const places = found.map((place) => ({ organizer, ...place }));
  const annul = async (tx: Tx): Promise<AnnulScanResponse> => {
    const scan = await findNamed(tx, { places, nonce, deviceId });
    const objection = objectToAnnulment(scan, { at: request.at ?? clock.now(), deviceId });
    if (objection !== undefined) throw refusal(objection);
    await takeBack(tx, scan, explanation);
    return {};
  };
  return answerOnce(db, ScanHistory.annulScan, annul);
}

/** A refusal with the nonce counts only where no scan with it succeeded: scanners send a refused scan again. */
async function findNamed(
  tx: Tx,
  asked: Pick<Parameters<typeof findScansOfNonce>[1], "places" | "nonce" | "deviceId">,
): Promise<ScanOfNonce> {
  const admitted = await findScansOfNonce(tx, { ...asked, successful: true });
  const named = admitted.length > 0 ? admitted : await findScansOfNonce(tx, { ...asked, successful: false });
  const [scan, another] = named;
  if (scan === undefined) throw fault("scan_not_found", "No check-in on these lists has this nonce.");
  if (another !== undefined) throw invalid({ nonce: ["Several check-ins have this nonce."] });
  return scan;
}

/** Locks in the order of other changes of tickets: the ticket, the list, its persons, its presence. */
async function takeBack(tx: Tx, scan: ScanOfNonce, explanation: string | null): Promise<void> {
  const { organizer, event, list, position } = scan;
  if (position === null) throw refusal("unsuccessful");
  const key = { organizer, event, list, position };
  const bucket = await lockTicket(tx, { organizer, event, id: position });
  if (!(await lockForScan(tx, "list", { organizer, event, id: list }))) throw listNotFound();
  await lockCounts(tx, [{ organizer, event, id: list }]);
  const before = await lockPresence(tx, key);
  const isFirst = await markAnnulled(tx, scan, explanation);
  if (bucket === undefined || before === undefined || !isFirst) throw refusal("unsuccessful");
  const after: Presence = { version: before.version + 1, ...(await sumScans(tx, key)) };
  await putPresences(tx, [{ ...key, presence: after }]);
  if (bucket !== null)
    await addCounts(tx, [{ organizer, event, ...bucket, list, positions: 0, ...countChange(before, after) }]);
  const { traceparent = null } = currentContext();
  await publishFacts(tx, topics.scanDecided.name, [{ ...toScanFact({ ...scan, reason: "annulled" }), traceparent }]);
}

const messages: Readonly<Record<Objection, string>> = {
  unsuccessful: "This check-in did not succeed, or was annulled before.",
  too_late: "A check-in can be annulled within 15 minutes.",
  other_device: "Only the device that made a check-in can annul it.",
};

function refusal(objection: Objection): Fault {
  return invalid({ non_field_errors: [messages[objection]] });
}

function invalid(fields: Readonly<Record<string, readonly string[]>>): Fault {
  return fault("invalid_annulment", Object.values(fields).flat().join(" "), { fields });
}
