const givenNames = [
  "Amina",
  "Björn",
  "Chloé",
  "Dmitri",
  "Eszter",
  "Fatima",
  "Gökhan",
  "Hana",
  "Íñigo",
  "Jürgen",
  "Keiko",
  "Łukasz",
  "Māra",
  "Ngozi",
  "Øystein",
  "Priya",
  "Quim",
  "Renée",
  "Søren",
  "Thị",
  "Ülle",
  "Věra",
  "Wei",
  "Xóchitl",
  "Ýmir",
  "Zoë",
];
const familyNames = [
  "Adeyemi",
  "Bäcker",
  "Çelik",
  "Dubois",
  "Eriksson",
  "Fernández",
  "Großmann",
  "Hernández",
  "Ivanova",
  "Jørgensen",
  "Kowalski",
  "Lindqvist",
  "Müller",
  "Nguyễn",
  "O’Connor",
  "Petrović",
  "Quispe",
  "Rossi",
  "Şahin",
  "Tanaka",
  "Ünal",
  "Virtanen",
  "Weiß",
  "Yılmaz",
  "Žižek",
];

/** Somebody who has a ticket. */
export interface Person {
  readonly given: string;
  readonly family: string;
}

/** The person with a number: the same one every time, and few of one name in a row. */
export function personOf(number: number): Person {
  return {
    given: givenNames[(number * 7) % givenNames.length] ?? "",
    family: familyNames[(number * 11 + Math.floor(number / givenNames.length)) % familyNames.length] ?? "",
  };
}
