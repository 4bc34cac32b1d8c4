import { RebuildsServiceService } from "@tessera/protos/gen/platform/v1/rebuilds";
import type { Job } from "../jobs/interval.ts";
import type { Db } from "../pg/database.ts";
import { sql } from "../pg/sql.ts";
import { connect, type Implementation, implement, type Transport } from "../rpc.ts";
import type { Log } from "../telemetry/log.ts";
import type { OpenConsumer } from "./consume.ts";

/** Each run reads whole tables, and two versions run side by side for minutes. */
const everyMs = 3_600_000;

/**
 * Asks the owner of a topic to publish it again where a version that knew fewer columns has stored copies. While that
 * version still runs, it may store more of them; then the next run asks again.
 */
export function refreshCopies(options: {
  readonly consumers: readonly Pick<OpenConsumer, "topic" | "owner" | "hasOutdated">[];
  transportTo(service: string): Transport;
  readonly log: Log;
}): Job {
  const { consumers, transportTo, log } = options;
  return {
    name: "refresh-copies",
    everyMs,
    async run(signal) {
      for (const { topic, owner, hasOutdated } of consumers) {
        if (signal.aborted || !(await hasOutdated())) continue;
        log.info("an earlier version has stored copies; their topic is published again", { topic });
        await connect(RebuildsServiceService, transportTo(owner)).rebuildTopic({ topic }, { signal });
      }
    },
  };
}

export function rebuildsService({ db, owns }: { readonly db: Db; readonly owns: readonly string[] }): Implementation {
  return implement(RebuildsServiceService, {
    async rebuildTopic({ topic }) {
      if (!owns.includes(topic)) throw new Error(`this service does not own ${topic}`);
      await db.run(sql`
        insert into rebuild (topic)
        select ${topic}
         where not exists (select from rebuild where rebuild.topic = ${topic} and rebuild.finished_at is null)`);
      return {};
    },
  });
}
