/** The kinds of records that can be read. */
export type DocumentKind =
  | "event"
  | "subevent"
  | "category"
  | "item"
  | "question"
  | "quota"
  | "revoked_secret"
  | "blocked_secret"
  | "reusable_medium"
  | "gate";
