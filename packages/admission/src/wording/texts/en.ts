/** All texts, and the fallback for those that another language lacks. Names in braces are filled in. */
export const en = {
  valid_from: "Valid from {time}.",
  valid_until: "Valid until {time}.",
  medium_elsewhere: "This medium belongs to a ticket of another event.",
  full: "Full: {limit} persons may be inside.",
  exchange: "This ticket is exchanged for a medium, for instance a wristband: scan one.",

  rules_refuse: "The rules of this list do not allow this entry",
  wrong_product: "Tickets of this type are not let in here",
  wrong_gate: "Tickets like this one are not let in at this gate",
  inside: "Already inside",
  outside: "Not inside",
  only_after: "Entry only after {time}",
  only_before: "Entry only before {time}",
  only_on_days: "Entry only on {days}",
  only_from_day_to_day: "Entry only from {first} to {last}",
  never_entered: "Not entered yet",
  entered_before: "Entered before",

  /** `label` is one of the texts that begin with `number_of`. */
  must_be_less: "{label} is {value} but must be less than {limit}",
  must_be_at_most: "{label} is {value} but must be at most {limit}",
  must_be_more: "{label} is {value} but must be more than {limit}",
  must_be_at_least: "{label} is {value} but must be at least {limit}",
  must_be_exactly: "{label} is {value} but must be exactly {limit}",
  must_not_be: "{label} must not be {value}",

  number_of_entries: "The number of entries",
  number_of_entries_today: "The number of entries today",
  number_of_entries_since: "The number of entries since {time}",
  number_of_entries_before: "The number of entries before {time}",
  number_of_days: "The number of days with an entry",
  number_of_days_since: "The number of days with an entry since {time}",
  number_of_days_before: "The number of days with an entry before {time}",
  number_of_minutes_since_last_entry: "The number of minutes since the last entry",
  number_of_minutes_since_first_entry: "The number of minutes since the first entry",
  /** Stands for `time`, where the event does not have that time. */
  unknown_time: "then",

  /** Follows ten reasons. */
  and_more: "{reasons}, and more",
} as const;

export type TextName = keyof typeof en;

/** The texts of a language; those that it lacks are English. */
export type Texts = Readonly<Partial<Record<TextName, string>>>;
