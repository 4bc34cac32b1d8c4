import { AnswerFiles, FirstEntries, PersonalData, TicketData } from "@tessera/protos/services";

/** What layout-and-render calls, by the service that serves it. */
export const clients = {
  ticketData: ["boxoffice", TicketData],
  answerFiles: ["boxoffice", AnswerFiles],
  firstEntries: ["checkin", FirstEntries],
  boxofficeData: ["boxoffice", PersonalData],
} as const;
