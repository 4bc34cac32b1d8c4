import { findWork } from "@tessera/kit/jobs/work";
import type { Db } from "@tessera/kit/pg/database";
import type { FindExportRequest, FindExportResponse } from "@tessera/protos/gen/ticketing/shredder/v1/shreds";
import { JobState } from "@tessera/protos/gen/ticketing/type/v1/job";
import { exporting, workId } from "../cases/work.ts";
import { fault } from "../faults.ts";
import { findOwnExport } from "../store/exports.ts";

/** Finds how far an export is, for the one who asked for it (D5.4). */
export async function findExport(
  { export: id, ...request }: FindExportRequest,
  { db }: { readonly db: Db },
): Promise<FindExportResponse> {
  const { organizer, event } = request;
  // Before the row: it has the file of work that has ended.
  const work = await findWork(db, exporting, workId({ organizer, event, id }));
  const found = await findOwnExport(db, { ...request, id });
  if (found === undefined) throw unknownExport();
  const none = { message: "", fileKey: "" };
  switch (work?.state) {
    case "waiting":
      return { ...none, state: JobState.WAITING };
    case "running":
      return { ...none, state: JobState.RUNNING };
    case "failed":
      return { ...none, state: JobState.FAILED, message: work.cause ?? "The data could not be exported." };
    case "succeeded":
      if (found.fileKey === null) throw unknownExport();
      return { ...none, state: JobState.SUCCEEDED, fileKey: found.fileKey };
    default:
      throw unknownExport();
  }
}

/** There never was one, it has expired, or its data is erased. */
export function unknownExport() {
  return fault("export_not_found", "There is no such export, or it has expired.");
}
