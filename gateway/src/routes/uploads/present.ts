import type { RepeatedReply, Reply } from "../../http/route.ts";
import type { TakenUpload } from "../../upload/take-upload.ts";

/** Presents an accepted file, or the objection to it. A repeated request gets its former answer. */
export function presentUpload(upload: TakenUpload): Reply | RepeatedReply {
  if (upload.taken === "before") return upload.reply;
  return upload.taken ? { status: "created", body: { id: `file:${upload.id}` } } : presentObjection(upload.objection);
}

export function presentObjection(objection: string): Reply {
  return { status: "invalid", body: { detail: objection } };
}
