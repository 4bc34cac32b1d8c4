import { consume } from "@tessera/kit/bus/consume";
import type { Clock } from "@tessera/kit/clock";
import { topics } from "@tessera/protos/topics";
import { keepNamed } from "../store/uploads.ts";

/** Boxoffice copies the file of an answer; boxoffice may be down for days. */
const keptMicros = 30 * 24 * 60 * 60 * 1_000_000;

/** Keeps the uploads in answers of stored scans. Uploads of a refused scan expire as if no scan had named them. */
export const answersGiven = consume(topics.answersGiven, async (tx, facts, { clock }: { readonly clock: Clock }) => {
  const now = clock.now();
  const answers = facts.flatMap(({ value }) =>
    (value?.answers ?? []).flatMap(({ file }) =>
      value === null || file === undefined
        ? []
        : [{ organizer: value.organizer, event: value.event, upload: file.upload }],
    ),
  );
  await keepNamed(tx, { answers, now, keepUntil: now + keptMicros });
});
