import { eraseResponses, responses } from "@tessera/events/answer-once";
import { type Erasing, holdPersonalData } from "@tessera/events/personal-data/holder";
import { ExportShape } from "@tessera/protos/gen/platform/v1/personal_data";
import { catalogue, topics } from "@tessera/protos/topics";
import { storeChanged } from "./capacity/store-changed.ts";
import { mask, namesGuest } from "./domain/guest-comment.ts";
import * as store from "./store/guest-comments.ts";
import { lockVouchers } from "./store/stored-vouchers.ts";

const erasedAtATime = 500;
const readAtATime = 50;

/** A message may have 16 MiB, and a comment of 64 KiB may grow sixfold in JSON. */
const pageBytes = 2 * 2 ** 20;

/** The personal data that vouchers hold, and how it is exported and erased. */
export const personalData = holdPersonalData({
  requests: topics.shredRequested,
  topics: catalogue,
  holdings: [{ kind: "waiting_list", name: "voucher.comment", left: store.countGuestComments, isRenewable: true }],
  files: [
    {
      kind: "waiting_list",
      name: "waiting-list.json",
      shape: ExportShape.ARRAY,
      async read(db, place, after) {
        const found = await store.readGuestComments(db, place, { after: Number(after), limit: readAtATime });
        const entries: { readonly json: Uint8Array }[] = [];
        let bytes = 0;
        for (const { id, code, comment, tag } of found) {
          const json = Buffer.from(JSON.stringify({ voucher: code, comment, tag }));
          entries.push({ json });
          bytes += json.length;
          if (bytes >= pageBytes) return { entries, next: String(id) };
        }
        return { entries, next: found.length < readAtATime ? "" : String(found.at(-1)?.id) };
      },
    },
  ],
  version: store.versionOf,
  async erase(job) {
    if (job.kinds.has("waiting_list")) await maskComments(job);
  },
});

/** Masks the comments that name guests, publishes that, and deletes stored answers that show one. */
async function maskComments({ organizer, event, signal, slice }: Erasing): Promise<void> {
  const place = { organizer, event };
  for (let after: number | undefined = 0; after !== undefined; ) {
    signal.throwIfAborted();
    const page = { after, limit: erasedAtATime };
    after = await slice(async (tx, count) => {
      const found = await store.readGuestComments(tx, place, page);
      const locked = await lockVouchers(
        tx,
        found.map(({ id }) => ({ ...place, id })),
      );
      // A comment may have changed since it was found.
      const guests = locked.filter(namesGuest);
      await storeChanged(
        tx,
        guests.map((voucher) => ({ ...voucher, comment: mask })),
      );
      count("waiting_list", "voucher.comment", guests.length);
      return found.length < erasedAtATime ? undefined : found.at(-1)?.id;
    });
  }
  await slice(async (tx, count) => {
    count("waiting_list", responses, await eraseResponses(tx, place));
  });
}
