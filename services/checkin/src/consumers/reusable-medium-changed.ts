import { keepCopy } from "@tessera/kit/bus/keep-copy";
import { bigint, boolean, copyTable, instant, json, text } from "@tessera/kit/pg/table";
import { topics } from "@tessera/protos/topics";

/** Media belong to no event. */
const media = copyTable("reusable_medium", {
  key: { organizer: text, id: bigint },
  columns: {
    type: text,
    identifier: text,
    active: boolean,
    expires: instant.orNull,
    linkedPositions: json<readonly { readonly event: string; readonly id: number }[]>(),
  },
});

export const reusableMediumChanged = keepCopy(topics.reusableMediumChanged, media, (fact) => ({
  ...fact,
  linkedPositions: fact.linkedPositions.map(({ event, id }) => ({ event, id })),
}));
