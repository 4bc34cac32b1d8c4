import { parsePhoneNumberFromString } from "libphonenumber-js/min";

/** Writes a phone number in the international form; anything else stays as it is. */
export function formatPhone(phone: string): string {
  return parsePhoneNumberFromString(phone)?.formatInternational() ?? phone;
}
