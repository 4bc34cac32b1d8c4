import type { Topic } from "@tessera/protos/topic";
import type { Job } from "../jobs/interval.ts";
import type { Db } from "../pg/database.ts";
import type { Bus } from "./bus.ts";
import { markTopics } from "./markers.ts";

const everyMs = 3_600_000;

export type OwnTopic = Pick<Topic<unknown>, "name" | "retention" | "personalData">;

/**
 * Publishes a marker to every partition with personal data. A broker compacts no segment that it still writes to, and only a
 * message makes it begin another one: without one, a partition would keep what was erased until its next fact.
 */
export function moveSegments(options: {
  readonly db: Db;
  readonly bus: Pick<Bus, "partitions">;
  readonly owns: readonly OwnTopic[];
}): Job {
  const personal = options.owns.filter(
    ({ retention, personalData }) => retention.kind === "compacted" && Object.keys(personalData).length > 0,
  );
  return {
    name: "move-segments",
    everyMs,
    async run() {
      await markTopics(
        options,
        personal.map(({ name }) => name),
      );
    },
  };
}
