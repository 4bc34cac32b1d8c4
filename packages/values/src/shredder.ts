/** The kinds of personal data that can be erased, with their English names (D1.1). */
export const shredders = {
  attendee_info: "Attendee info",
  cachedtickets: "Cached ticket files",
  invoice_addresses: "Invoice addresses",
  invoices: "Invoices",
  order_emails: "Emails",
  payment_info: "Payment information",
  phone_numbers: "Phone numbers",
  question_answers: "Question answers",
  waiting_list: "Waiting list",
} as const;

export type Shredder = keyof typeof shredders;

export function isShredder(identifier: string): identifier is Shredder {
  return Object.hasOwn(shredders, identifier);
}
