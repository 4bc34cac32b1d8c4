/**
 * A moment: whole microseconds since 1970-01-01T00:00:00Z.
 *
 * Exact in a `number` from 1684 to 2255. Outside, fractions of a second are not exact, but whole seconds are: a million is
 * a multiple of 64, and numbers up to the year 9999 are less than 64 apart.
 */
export type Instant = number;

const earliest = -62_135_596_800; // 0001-01-01T00:00:00Z, in seconds
const latest = 253_402_300_799; // 9999-12-31T23:59:59Z

/**
 * Reads a date and time of ISO 8601, in UTC without an offset, or a date (its midnight in UTC). Letters may be small, and an
 * offset may have hours alone.
 *
 * Other texts, invalid days, and moments outside of the years 1 to 9999 UTC give `undefined`. Parts of a microsecond, which
 * many programs write, are cut off, and so is a fraction of a second that a number cannot represent (see `Instant`): "the end
 * of 9999" stays in 9999.
 */
export function parseInstant(text: string): Instant | undefined {
  const length = text.length;
  const year = readDigits(text, 0, 4);
  const month = readDigits(text, 5, 2);
  const day = readDigits(text, 8, 2);
  if (year < 1 || month < 1 || month > 12 || day < 1 || text[4] !== "-" || text[7] !== "-") return undefined;

  let seconds = startOfDay(year, month, day);
  if (day > 28 && seconds >= startOfDay(year, month + 1, 1)) return undefined;
  let microseconds = 0;
  if (length > 10) {
    const separator = text[10];
    const hour = readDigits(text, 11, 2);
    const minute = readDigits(text, 14, 2);
    if ((separator !== "T" && separator !== "t" && separator !== " ") || text[13] !== ":") return undefined;
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59) return undefined;
    seconds += hour * 3600 + minute * 60;

    let at = 16;
    if (text[at] === ":") {
      const second = readDigits(text, 17, 2);
      if (second < 0 || second > 59) return undefined;
      seconds += second;
      at = 19;
      if (text[at] === "." || text[at] === ",") {
        const from = ++at;
        while (at < length && isDigit(text.charCodeAt(at))) at++;
        if (at === from) return undefined;
        const places = Math.min(at - from, 6);
        microseconds = readDigits(text, from, places) * 10 ** (6 - places);
      }
    }

    const offset = readOffset(text, at);
    if (offset === undefined) return undefined;
    seconds -= offset;
  }

  if (seconds < earliest || seconds > latest) return undefined;
  const instant = seconds * 1_000_000;
  return Number.isSafeInteger(instant + microseconds) ? instant + microseconds : instant;
}

/** Writes an instant in UTC with `Z`. A fraction of a second is written only if there is one, with six digits. */
export function formatInstant(instant: Instant): string {
  let microseconds = instant % 1_000_000;
  if (microseconds < 0) microseconds += 1_000_000;
  const seconds = (instant - microseconds) / 1_000_000;
  if (!(Number.isInteger(instant) && seconds >= earliest && seconds <= latest)) {
    throw new RangeError(`${instant} is no instant of the years 1 to 9999 in whole microseconds`);
  }
  const days = Math.floor(seconds / 86_400);
  const second = seconds - days * 86_400;
  const time = `T${twoDigits[Math.floor(second / 3600)]}:${twoDigits[Math.floor(second / 60) % 60]}:${twoDigits[second % 60]}`;
  const fraction = microseconds === 0 ? "" : `.${String(microseconds).padStart(6, "0")}`;
  return `${formatDay(days)}${time}${fraction}Z`;
}

/** The offset from `at` to the end of the text, in seconds east of UTC. */
function readOffset(text: string, at: number): number | undefined {
  const rest = text.length - at;
  if (rest === 0) return 0;
  const sign = text[at];
  if (sign === "Z" || sign === "z") return rest === 1 ? 0 : undefined;
  if (sign !== "+" && sign !== "-") return undefined;
  const colon = text[at + 3] === ":";
  if (rest !== 3 && rest !== (colon ? 6 : 5)) return undefined;
  const hours = readDigits(text, at + 1, 2);
  const minutes = rest === 3 ? 0 : readDigits(text, at + (colon ? 4 : 3), 2);
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return undefined;
  return (sign === "-" ? -1 : 1) * (hours * 3600 + minutes * 60);
}

/** The number of `count` ASCII digits; -1 if one is not a digit. */
function readDigits(text: string, from: number, count: number): number {
  let value = 0;
  for (let at = from; at < from + count; at++) {
    const code = text.charCodeAt(at);
    if (!isDigit(code)) return -1;
    value = value * 10 + code - 48;
  }
  return value;
}

/** After the end of a text `charCodeAt` is NaN, which is not a digit. */
function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** Seconds from 1970 to the beginning of a day. The 13th month is the next January. */
function startOfDay(year: number, month: number, day: number): number {
  // Date.UTC reads the years 0 to 99 as 1900 to 1999. After 400 years the calendar repeats.
  return Date.UTC(year + 400, month - 1, day) / 1000 - 146_097 * 86_400;
}

// Answers print many moments of few days, and mostly the same day as before.
let formattedDay = Number.NaN;
let formattedText = "";

function formatDay(days: number): string {
  if (days === formattedDay) return formattedText;
  formattedDay = days;
  const date = new Date(days * 86_400_000);
  const year = String(date.getUTCFullYear()).padStart(4, "0");
  formattedText = `${year}-${twoDigits[date.getUTCMonth() + 1]}-${twoDigits[date.getUTCDate()]}`;
  return formattedText;
}

const twoDigits = Array.from({ length: 60 }, (_, value) => String(value).padStart(2, "0"));
