import type { Locale } from "./locale.ts";

/** Words that the platform itself prints on tickets. `#` stands for a number or name. */
export interface Words {
  readonly yes: string;
  readonly no: string;
  readonly row: string;
  readonly seat: string;
  readonly generalAdmission: string;
  /** Salutations by their stored name; others are printed as they are. */
  readonly salutations: Readonly<Record<string, string>>;
}

/** Yes, no, row, seat, general admission, and the salutations Ms and Mr. */
type Row = readonly [string, string, string, string, string, string?, string?];

const rows: Readonly<Record<string, Row>> = {
  en: ["Yes", "No", "Row #", "Seat #", "General admission", "Ms", "Mr"],
  ar: ["نعم", "لا", "الصف #", "المقعد #", "دخول عام"],
  bg: ["Да", "Не", "Ред #", "Място #", "Общ вход"],
  ca: ["Sí", "No", "Fila #", "Seient #", "Entrada general", "Sra.", "Sr."],
  cs: ["Ano", "Ne", "Řada #", "Sedadlo #", "Volné sezení", "paní", "pan"],
  da: ["Ja", "Nej", "Række #", "Plads #", "Fri placering"],
  de: ["Ja", "Nein", "Reihe #", "Platz #", "Freie Platzwahl", "Frau", "Herr"],
  el: ["Ναι", "Όχι", "Σειρά #", "Θέση #", "Γενική είσοδος", "Κα", "Κος"],
  es: ["Sí", "No", "Fila #", "Asiento #", "Entrada general", "Sra.", "Sr."],
  fi: ["Kyllä", "Ei", "Rivi #", "Paikka #", "Vapaat paikat"],
  fr: ["Oui", "Non", "Rang #", "Place #", "Placement libre", "Mme", "M."],
  he: ["כן", "לא", "שורה #", "מושב #", "כניסה כללית"],
  hr: ["Da", "Ne", "Red #", "Sjedalo #", "Opći ulaz"],
  hu: ["Igen", "Nem", "#. sor", "#. szék", "Szabad helyválasztás"],
  id: ["Ya", "Tidak", "Baris #", "Kursi #", "Tiket umum"],
  it: ["Sì", "No", "Fila #", "Posto #", "Ingresso generale", "Sig.ra", "Sig."],
  ja: ["はい", "いいえ", "#列", "#番", "自由席"],
  ko: ["예", "아니요", "#열", "#번", "일반 입장"],
  nb: ["Ja", "Nei", "Rad #", "Sete #", "Unummererte plasser"],
  nl: ["Ja", "Nee", "Rij #", "Stoel #", "Vrije plaatskeuze", "Mevr.", "Dhr."],
  pl: ["Tak", "Nie", "Rząd #", "Miejsce #", "Wstęp ogólny", "Pani", "Pan"],
  pt: ["Sim", "Não", "Fila #", "Lugar #", "Entrada geral", "Sra.", "Sr."],
  ro: ["Da", "Nu", "Rândul #", "Locul #", "Acces general", "Dna.", "Dl."],
  ru: ["Да", "Нет", "Ряд #", "Место #", "Общий вход"],
  sk: ["Áno", "Nie", "Rad #", "Sedadlo #", "Voľné sedenie", "pani", "pán"],
  sl: ["Da", "Ne", "Vrsta #", "Sedež #", "Splošni vstop", "ga.", "g."],
  sv: ["Ja", "Nej", "Rad #", "Plats #", "Fri placering"],
  th: ["ใช่", "ไม่ใช่", "แถว #", "ที่นั่ง #", "บัตรทั่วไป"],
  tr: ["Evet", "Hayır", "Sıra #", "Koltuk #", "Genel giriş"],
  uk: ["Так", "Ні", "Ряд #", "Місце #", "Загальний вхід"],
  vi: ["Có", "Không", "Hàng #", "Ghế #", "Vé phổ thông"],
  zh: ["是", "否", "#排", "#座", "普通入场"],
  "zh-Hant": ["是", "否", "#排", "#號", "普通入場"],
};

/** Aliases of language codes. */
const aliases: Readonly<Record<string, string>> = { nn: "nb", no: "nb", "zh-TW": "zh-Hant", "zh-HK": "zh-Hant" };

const english = toWords(rows["en"] ?? ["Yes", "No", "#", "#", ""]);

/** Finds the words of a language; the default is English. */
export function findWords({ tag, language }: Locale): Words {
  const script = tag.split("-").slice(0, 2).join("-");
  for (const name of [tag, script, language]) {
    const known = Object.hasOwn(aliases, name) ? (aliases[name] ?? name) : name;
    const row = Object.hasOwn(rows, known) ? rows[known] : undefined;
    if (row !== undefined) return toWords(row);
  }
  return english;
}

/** Replaces `#` in a phrase. */
export function fillPhrase(phrase: string, value: string): string {
  return phrase.replace("#", () => value);
}

function toWords([yes, no, row, seat, generalAdmission, ms, mr]: Row): Words {
  const salutations = { ...(ms === undefined ? {} : { Ms: ms }), ...(mr === undefined ? {} : { Mr: mr }) };
  return { yes, no, row, seat, generalAdmission, salutations };
}
