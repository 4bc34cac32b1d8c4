import { header } from "@tessera/kit/bus/headers";
import type { Rebuild } from "@tessera/kit/bus/rebuild-topics";
import { topics } from "@tessera/protos/topics";
import type { EntityKey } from "../store/keys.ts";
import {
  countPublishedScans,
  lastScanId,
  nextPublishedScans,
  type PublishedScan,
  republish,
} from "../store/republish-scans.ts";
import { toScanFact } from "../wire/scan-fact.ts";

const { retention } = topics.scanDecided;
const days = retention.kind === "days" ? retention.days : 0;

/** Publishes again the scans within the retention of the topic, under their former ids: a consumer ignores those it knows. */
export const rebuildScans: Rebuild = {
  topic: topics.scanDecided,
  drawCutoff: lastScanId,
  count: (db) => countPublishedScans(db, { days }),
  async publishNext(tx, { after, limit, cutoff }) {
    const scans = await nextPublishedScans(tx, {
      after: after === undefined ? undefined : (JSON.parse(after) as EntityKey),
      upTo: cutoff,
      days,
      limit,
    });
    const last = scans.at(-1);
    if (last === undefined) return undefined;
    const facts = scans.filter(({ isOver }) => !isOver).map(toFact);
    await republish(tx, topics.scanDecided.name, facts);
    const { organizer, event, id } = last;
    return { place: JSON.stringify({ organizer, event, id }), published: facts.length };
  },
};

function toFact(scan: PublishedScan) {
  return {
    ...toScanFact(scan),
    // Consumers remember a fact under the day that it was first published on.
    headers: { [header.at]: String(scan.publishedAt), [header.writtenAt]: String(Date.now() * 1000) },
  };
}
