import type { Reply } from "../../http/route.ts";
import type { TakenUpload } from "../../upload/take-upload.ts";

/** Shows a file that was taken, or says what is wrong with it. A repeated request gets its answer as it was. */
export function presentUpload(upload: TakenUpload): Reply {
  if (upload.taken === "before") return upload.reply;
  return upload.taken ? { status: 201, body: { id: `file:${upload.id}` } } : presentObjection(upload.objection);
}

/** Says what is wrong with a file. */
export function presentObjection(objection: string): Reply {
  return { status: 400, body: { detail: objection } };
}
