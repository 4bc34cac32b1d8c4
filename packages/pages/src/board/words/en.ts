import { reasonsEn } from "../../ui/words/reasons-en.ts";

/** All words of the page. A translator copies de.ts, and keeps the names in braces. */
export const en = {
  ...reasonsEn,
  page: "Live board",
  language: "Language",
  starting: "Starting…",

  signed_out: "Sign in to the live board",
  signed_out_how: "Open the link that the organizer gave you. It works once, for one browser.",
  signed_out_make: "It is made by `tessera link board --organizer NAME`.",
  sign_in: "Sign in",
  link_refused: "This link did not sign you in",
  no_server: "The server does not answer. This page tries again.",
  sign_out: "Sign out",

  choose_event: "Which event?",
  other_event: "Other event",
  no_events: "There is no event that this access is for.",
  no_event: "This event does not exist, or this access is not for it.",
  search: "Search",

  live: "Live",
  stale: "No data for {span}: these numbers are old.",
  inside: "inside",
  entered: "{entered} of {all} entered",
  room_of: "of at most {limit}.",
  room_near: "Nearly full: at most {limit}.",
  room_soft: "Above {soft}: let in slowly.",
  room_full: "Full: at most {limit}. Entries are refused.",
  room_forecast: "Full in {span} at this rate.",
  all_lists: "All {count} lists",
  fewer_lists: "Fewer lists",
  no_lists: "The event has no check-in list yet.",

  last_minute: "In the last minute",
  entries: "Entries",
  exits: "Exits",
  refused: "Refused",
  refused_share: "{share} of all scans",
  last_hour: "Scans per minute, the last hour",
  last_hour_of: "{gate}: scans per minute, the last hour",
  no_scans: "No scans in these minutes.",

  gates: "Gates",
  gate: "Gate",
  gate_without_name: "Gate {id}",
  without_gate: "Without a gate",
  no_gates: "No device was heard of within half a day.",
  state_busy: "busy",
  state_quiet: "quiet",
  state_silent: "silent",
  last_scan: "Last scan",
  never: "–",
  ago: "{span} ago",
  devices: "Devices",
  device: "Device",
  reason: "Most refused for",
  queued: "{count} scans to upload",
  low_battery: "battery {percent}",
  not_heard: "not heard of for {span}",
  behind: "changes are {span} old",
  well: "well",

  refusals: "Last refusals",
  no_refusals: "No refusals within the last 15 minutes.",
  doubles: "Doubles",
  doubles_none: "No ticket was let in twice.",
  doubles_some: "{count} tickets were let in twice without a gate knowing of the other; {open} are not explained.",
  doubles_many: "There are too many to count here: see the ledger of doubles.",

  report: "Report of the day",
  report_pdf: "Report (PDF)",
  report_csv: "By the quarter of an hour (CSV)",
  every_scan: "Every scan (CSV)",

  close: "Close",
  sort_by: "Sort by {column}",
};

export type Words = typeof en;
export type Word = keyof Words;
