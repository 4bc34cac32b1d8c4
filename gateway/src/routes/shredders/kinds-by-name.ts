import { shredders } from "@tessera/values";

/** All kinds of personal data that can be erased, in display order. */
export const kindsByName = Object.entries(shredders)
  .map(([identifier, name]) => ({ identifier, verbose_name: name }))
  .toSorted((one, other) => one.verbose_name.localeCompare(other.verbose_name, "en"));
