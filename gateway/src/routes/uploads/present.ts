import type { Reply } from "../../http/route.ts";
import type { TakenUpload } from "../../upload/take-upload.ts";

/** Presents an accepted file, or the objection to it. A repeated request gets its former answer. */
export function presentUpload(upload: TakenUpload): Reply {
  if (upload.taken === "before") return upload.reply;
  return upload.taken ? { status: 201, body: { id: `file:${upload.id}` } } : presentObjection(upload.objection);
}

export function presentObjection(objection: string): Reply {
  return { status: 400, body: { detail: objection } };
}
