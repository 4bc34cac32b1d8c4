import { header } from "@tessera/kit/bus/headers";
import type { Rebuild } from "@tessera/kit/bus/rebuild-topics";
import { topics } from "@tessera/protos/topics";
import type { EntityKey } from "../store/keys.ts";
import { publishFacts } from "../store/publish-facts.ts";
import { countPublishedScans, lastScanId, nextPublishedScans, type PublishedScan } from "../store/republish-scans.ts";
import { toScanFact } from "../wire/scan-fact.ts";

const { retention } = topics.scanDecided;
const days = retention.kind === "days" ? retention.days : 0;

/** Publishes scans within the retention of the topic again, with their fact ids: a consumer knows them by its inbox. */
export const rebuildScans: Rebuild<EntityKey> = {
  topic: topics.scanDecided,
  drawCutoff: lastScanId,
  count: (db) => countPublishedScans(db, { days }),
  async publishNext(tx, { after, limit, cutoff }) {
    const scans = await nextPublishedScans(tx, { after, upTo: cutoff, days, limit });
    const last = scans.at(-1);
    if (last === undefined) return undefined;
    const facts = scans.filter(({ isOver }) => !isOver).map(toFact);
    await publishFacts(tx, topics.scanDecided.name, facts);
    const { organizer, event, id } = last;
    return { last: { organizer, event, id }, published: facts.length };
  },
};

function toFact(scan: PublishedScan) {
  return {
    ...toScanFact(scan),
    // The inbox of a consumer is partitioned by the day of the first publication.
    headers: { [header.at]: String(scan.publishedAt), [header.writtenAt]: String(Date.now() * 1000) },
  };
}
