import { header } from "@tessera/kit/bus/headers";
import type { Rebuild } from "@tessera/kit/bus/rebuild-topics";
import { topics } from "@tessera/protos/topics";
import type { EntityKey } from "../store/keys.ts";
import { countToldScans, lastScanId, nextToldScans, type ToldScan, tellAgain } from "../store/republish-scans.ts";
import { fromScanType } from "../wire/positions.ts";
import { tellOfScan } from "../wire/scan-fact.ts";

const { retention } = topics.scanDecided;
const days = retention.kind === "days" ? retention.days : 0;

/** Tells again of the scans that the topic would still hold. Under their former ids: who knows of one does nothing. */
export const rebuildScans: Rebuild = {
  topic: topics.scanDecided,
  drawLine: lastScanId,
  count: (db) => countToldScans(db, { days }),
  async publishNext(tx, { after, limit, line }) {
    const scans = await nextToldScans(tx, {
      after: after === undefined ? undefined : (JSON.parse(after) as EntityKey),
      upTo: line,
      days,
      limit,
    });
    const last = scans.at(-1);
    if (last === undefined) return undefined;
    const facts = scans.filter(({ isOver }) => !isOver).map((scan) => toFact(scan));
    await tellAgain(tx, topics.scanDecided.name, facts);
    const { organizer, event, id } = last;
    return { place: JSON.stringify({ organizer, event, id }), published: facts.length };
  },
};

function toFact({ organizer, event, id, list, position, type, successful, reason, at, toldAt }: ToldScan) {
  const scan = { organizer, event, scan: id, list, position: position ?? undefined };
  return {
    ...tellOfScan({ ...scan, type: fromScanType(type), successful, reason: reason ?? undefined, at }),
    // Consumers remember a fact under the day that it was first told of.
    headers: { [header.at]: String(toldAt), [header.writtenAt]: String(Date.now() * 1000) },
  };
}
