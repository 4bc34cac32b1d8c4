import { type Erasing, holdPersonalData } from "@tessera/events/personal-data/holder";
import type { Files } from "@tessera/kit/files/files";
import { sql } from "@tessera/kit/pg/sql";
import { catalogue, topics } from "@tessera/protos/topics";
import { countAnswers, eraseAnswers, shownKinds } from "./store/kept-answers.ts";
import { countOfEvent, deleteUploads, endNaming, keyOf, lockOfEvent } from "./store/uploads.ts";

const uploadsAtATime = 500;

/**
 * The personal data that the gateway holds, and how it is erased. The gateway owns no data of an event: it exports no
 * file, and its data has no version.
 */
export const personalData = holdPersonalData<{ readonly files: Files }>({
  requests: topics.shredRequested,
  topics: catalogue,
  holdings: [
    ...shownKinds.map((kind) => ({ kind, name: "kept_answer.body", left: countAnswers })),
    { kind: "question_answers", name: "upload", left: countOfEvent },
  ],
  version: () => sql`select 'unchanged' as version`,
  async erase(job, { files }) {
    const shown = shownKinds.filter((kind) => job.kinds.has(kind));
    if (shown.length > 0) await eraseShown(job, shown);
    if (job.kinds.has("question_answers")) await eraseUploads(job, files);
  },
});

/** Erases kept answers. An answer may show all kinds of data, so it counts for each kind. */
async function eraseShown({ organizer, event, signal, slice }: Erasing, kinds: readonly string[]): Promise<void> {
  for (let isMore = true; isMore; ) {
    signal.throwIfAborted();
    isMore = await slice(async (tx, count) => {
      const erased = await eraseAnswers(tx, { organizer, event });
      for (const kind of kinds) count(kind, "kept_answer.body", erased.count);
      return erased.isMore;
    });
  }
}

/** Erases the uploads of an event. An upload that answers of another event name is kept. */
async function eraseUploads({ organizer, event, signal, slice }: Erasing, files: Files): Promise<void> {
  const place = { organizer, event };
  for (let isMore = true; isMore; ) {
    signal.throwIfAborted();
    const found = await slice(async (tx, count) => {
      const all = await lockOfEvent(tx, place, { most: uploadsAtATime });
      const shared = await endNaming(tx, place, all);
      count("question_answers", "upload", shared.size);
      return { ids: all.filter((id) => !shared.has(id)), isMore: all.length === uploadsAtATime };
    });
    // Files before rows: a file without a row is harder to find than a row without a file.
    await files.remove(found.ids.map(keyOf));
    await slice(async (tx, count) => {
      await deleteUploads(tx, found.ids);
      count("question_answers", "upload", found.ids.length);
    });
    isMore = found.isMore;
  }
}
