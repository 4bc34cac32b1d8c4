import type { Job } from "@tessera/kit/jobs/interval";
import type { Db } from "@tessera/kit/pg/database";
import { forgetCodes, mostCodes } from "../store/failed-scans.ts";

const hourMs = 3_600_000;

/** Deletes the codes of refused scans after some days: a refused code may be anything that was held to a scanner. */
export function forgetOldCodes({ db, refusedCodeDays }: { readonly db: Db; readonly refusedCodeDays: number }): Job {
  return {
    name: "forget-codes",
    everyMs: hourMs,
    async run(signal) {
      while (!signal.aborted && (await forgetCodes(db, { days: refusedCodeDays })) === mostCodes);
    },
  };
}
