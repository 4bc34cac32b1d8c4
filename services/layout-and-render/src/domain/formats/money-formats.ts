import { placesOfCurrency } from "@tessera/values";
import { formatterLocales, type Locale, readLocale } from "./locale.ts";

/** Where English prices have the separators of the region, and the language whose separators are the same. */
const englishLike: Readonly<Record<string, string>> = {
  ...Object.fromEntries(["BE", "DE", "DK", "ES", "IT", "PL", "RO", "SI"].map((region) => [region, "de"])),
  ...Object.fromEntries(["CZ", "FI", "HU", "NO", "PT", "SE", "SK"].map((region) => [region, "cs"])),
  AT: "de-AT",
  FR: "fr",
  NL: "nl",
};

/** Formats amounts in one locale. Formatters are created at first use, and cached. */
export class MoneyFormats {
  readonly #locales: string[];
  readonly #isEnglishLike: boolean;
  readonly #formatters = new Map<string, (amount: `${number}`) => string>();

  constructor(locale: Locale) {
    const region = locale.tag.split("-").at(-1) ?? "";
    const like = locale.language === "en" && Object.hasOwn(englishLike, region) ? englishLike[region] : undefined;
    this.#isEnglishLike = like !== undefined;
    this.#locales = formatterLocales(like === undefined ? locale : readLocale(like, null));
  }

  /** `1.234,50 €`: with all places of the amount, even if the currency has fewer. */
  money(amount: string, currency: string): string {
    if (!isDecimal(amount)) throw new Error("the amount is no decimal");
    if (!/^[A-Za-z]{3}$/.test(currency)) return `${currency} ${amount}`;
    const code = currency.toUpperCase();
    const needed = amount.split(".")[1]?.replace(/0+$/, "").length ?? 0;
    const usual = placesOfCurrency(code);
    const places = needed > usual ? Math.min(Math.max(needed, 2), 20) : usual;
    const key = `${code} ${places}`;
    let write = this.#formatters.get(key);
    if (write === undefined) {
      write = this.#makeFormatter(code, places);
      this.#formatters.set(key, write);
    }
    return write(amount);
  }

  #makeFormatter(currency: string, places: number): (amount: `${number}`) => string {
    const formatter = new Intl.NumberFormat(this.#locales, {
      style: "currency",
      currency,
      minimumFractionDigits: places,
      maximumFractionDigits: places,
      // Some locales leave the separator out below ten thousand, but not on price tags.
      useGrouping: "always",
    });
    if (!this.#isEnglishLike) return (amount) => formatter.format(amount);
    const symbol = findEnglishSymbol(currency);
    return (amount) => {
      const parts = formatter.formatToParts(amount);
      return parts.map(({ type, value }) => (type === "currency" ? symbol : value)).join("");
    };
  }
}

function findEnglishSymbol(currency: string): string {
  const parts = new Intl.NumberFormat("en-150", { style: "currency", currency }).formatToParts(0);
  return parts.find(({ type }) => type === "currency")?.value ?? currency;
}

function isDecimal(text: string): text is `${number}` {
  return /^-?[0-9]+(?:\.[0-9]+)?$/.test(text);
}
