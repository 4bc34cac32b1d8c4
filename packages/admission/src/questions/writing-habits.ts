/** How numbers and days are written in a language. */
export interface WritingHabits {
  readonly decimalSeparator: string;
  /** `1/16/2018` rather than `16/1/2018`. */
  readonly monthFirst: boolean;
}

const plain: WritingHabits = { decimalSeparator: ".", monthFirst: false };

/** Finds how a locale writes numbers and days; the default is a decimal point, and the day first. */
export function findHabits(locale: string): WritingHabits {
  return lookUp(locale) ?? lookUp(locale.replace(/[-_].*$/s, "")) ?? plain;
}

function lookUp(locale: string): WritingHabits | undefined {
  try {
    // For an unknown language Intl would use the language of this computer.
    if (Intl.NumberFormat.supportedLocalesOf(locale).length === 0) return undefined;
    const number = new Intl.NumberFormat(locale, { numberingSystem: "latn" }).formatToParts(1.5);
    const day = new Intl.DateTimeFormat(locale, { calendar: "gregory", numberingSystem: "latn" }).formatToParts(0);
    const types = day.map(({ type }) => type);
    return {
      decimalSeparator: number.find(({ type }) => type === "decimal")?.value ?? plain.decimalSeparator,
      monthFirst: types.indexOf("month") < types.indexOf("day") && types[0] !== "year",
    };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
