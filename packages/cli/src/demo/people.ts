const givenNames = words(
  "Amina Björn Chloé Dmitri Eszter Fatima Gökhan Hana Íñigo Jürgen Keiko Łukasz Māra Ngozi Øystein " +
    "Priya Quim Renée Søren Thị Ülle Věra Wei Xóchitl Ýmir Zoë",
);
const familyNames = words(
  "Adeyemi Bäcker Çelik Dubois Eriksson Fernández Großmann Hernández Ivanova Jørgensen Kowalski " +
    "Lindqvist Müller Nguyễn O’Connor Petrović Quispe Rossi Şahin Tanaka Ünal Virtanen Weiß Yılmaz Žižek",
);

export interface Person {
  readonly given: string;
  readonly family: string;
}

/** The person of a number: always the same, and names rarely repeat. */
export function personOf(number: number): Person {
  return {
    given: givenNames[(number * 7) % givenNames.length] ?? "",
    family: familyNames[(number * 11 + Math.floor(number / givenNames.length)) % familyNames.length] ?? "",
  };
}

function words(text: string): readonly string[] {
  return text.split(" ");
}
