import type { Texts } from "./en.ts";

export const de: Texts = {
  valid_from: "Gültig ab {time}.",
  valid_until: "Gültig bis {time}.",
  full: "Voll: {limit} Personen dürfen drin sein.",
  medium_elsewhere: "Dieses Medium gehört zu einem Ticket einer anderen Veranstaltung.",
  exchange: "Dieses Ticket wird gegen ein Medium getauscht, zum Beispiel ein Armband: bitte eines scannen.",

  rules_refuse: "Die Regeln dieser Liste erlauben diesen Eintritt nicht",
  wrong_product: "Mit Tickets dieser Art ist hier kein Einlass",
  wrong_gate: "Mit solchen Tickets ist an diesem Eingang kein Einlass",
  inside: "Bereits drinnen",
  outside: "Nicht drinnen",
  only_after: "Einlass nur nach {time}",
  only_before: "Einlass nur vor {time}",
  only_on_days: "Einlass nur am {days}",
  only_from_day_to_day: "Einlass nur von {first} bis {last}",
  never_entered: "Noch kein Eintritt",
  entered_before: "Schon einmal eingetreten",

  must_be_less: "{label} ist {value}, muss aber kleiner als {limit} sein",
  must_be_at_most: "{label} ist {value}, darf aber höchstens {limit} sein",
  must_be_more: "{label} ist {value}, muss aber größer als {limit} sein",
  must_be_at_least: "{label} ist {value}, muss aber mindestens {limit} sein",
  must_be_exactly: "{label} ist {value}, muss aber genau {limit} sein",
  must_not_be: "{label} darf nicht {value} sein",

  number_of_entries: "Die Zahl der Eintritte",
  number_of_entries_today: "Die Zahl der Eintritte heute",
  number_of_entries_since: "Die Zahl der Eintritte seit {time}",
  number_of_entries_before: "Die Zahl der Eintritte vor {time}",
  number_of_days: "Die Zahl der Tage mit einem Eintritt",
  number_of_days_since: "Die Zahl der Tage mit einem Eintritt seit {time}",
  number_of_days_before: "Die Zahl der Tage mit einem Eintritt vor {time}",
  number_of_minutes_since_last_entry: "Die Zahl der Minuten seit dem letzten Eintritt",
  number_of_minutes_since_first_entry: "Die Zahl der Minuten seit dem ersten Eintritt",
  unknown_time: "diesem Zeitpunkt",

  and_more: "{reasons} und weitere Gründe",
};
