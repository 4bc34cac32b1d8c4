/** What can be read of what records brought. */
export type DocumentKind =
  | "event"
  | "subevent"
  | "category"
  | "item"
  | "question"
  | "revoked_secret"
  | "blocked_secret"
  | "reusable_medium";
