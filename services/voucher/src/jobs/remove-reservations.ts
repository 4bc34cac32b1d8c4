import type { Job } from "@tessera/kit/jobs/interval";
import type { Db } from "@tessera/kit/pg/database";
import { forgetReservations, mostForgotten } from "../store/reservations.ts";

const everyMs = 10_000;

/** Removes the holds of expired reservations, which count no more, and reservations that ended long ago. */
export function removeReservations({ db }: { readonly db: Db }): Job {
  return {
    name: "remove-reservations",
    everyMs,
    async run(signal) {
      while (!signal.aborted && (await forgetReservations(db)) === mostForgotten);
    },
  };
}
