/** How numbers and days are written in a language. */
export interface WritingHabits {
  readonly decimalSeparator: string;
  /** `1/16/2018` rather than `16/1/2018`. */
  readonly monthFirst: boolean;
}

const plain: WritingHabits = { decimalSeparator: ".", monthFirst: false };

/** Events have few languages, but anybody may name one. */
const mostLocales = 500;

const known = new Map<string, WritingHabits>();

/** Finds how a locale writes numbers and days; one that nobody knows writes a decimal point, and the day first. */
export function habitsOf(locale: string): WritingHabits {
  let habits = known.get(locale);
  if (habits === undefined) {
    habits = lookUp(locale) ?? lookUp(locale.replace(/[-_].*$/s, "")) ?? plain;
    if (known.size >= mostLocales) known.clear();
    known.set(locale, habits);
  }
  return habits;
}

function lookUp(locale: string): WritingHabits | undefined {
  try {
    // For a language that it does not know, Intl would take that of this computer.
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
