export { type ArrivedScan, onEachList } from "./arrived-scan.ts";
export { chooseList } from "./choose-list.ts";
export { type CopiedMatch, decideFromCopy } from "./copy/decide-from-copy.ts";
export { EventCopy, type OwnScan } from "./copy/event-copy.ts";
export type { FeedLine, ItemInFeed } from "./copy/feed-line.ts";
export { ambiguous, decideScan, type Verdict } from "./decide-scan.ts";
export { explainScan } from "./explanation/explain-scan.ts";
export { findAdmittingGates, findNextAdmission, type Named } from "./explanation/find-admissions.ts";
export { type AdmissionTerms, coversItem } from "./list.ts";
export { dayLength, type LocalDateTime, toInstant, toLocal, type Zone } from "./local-time.ts";
export {
  type BroughtMedium,
  type MediaTerms,
  type MediumAnswer,
  readMediaTerms,
  type TicketMedium,
} from "./media-terms.ts";
export type { Circumstances } from "./objections.ts";
export { afterScan, countChange, neverScanned, type Presence, type ScanType } from "./presence.ts";
export type { GivenAnswer, SentAnswer, StoredAnswer } from "./questions/answer-questions.ts";
export type { Question } from "./questions/question.ts";
export { createReaders, type Readers } from "./readers.ts";
export { asksForScans, countValues } from "./rules/ask-rules.ts";
export { checkRules } from "./rules/check-rules.ts";
export { admits, type RuledScan, type RuleFacts } from "./rules/judge-rules.ts";
export type { Rules } from "./rules/read-rules.ts";
export type { FoundBy, Match, OrderStatus, Ticket } from "./ticket.ts";
