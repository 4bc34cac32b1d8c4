/** What programs read beside a code: who issued the ticket, and what the code says, by its name in the layout. */
export function machineText({ issuer, name, value }: { issuer: string; name: string; value: string }): string {
  const entries = Object.entries({ issuer, [name]: value }).sort(([one], [other]) => (one < other ? -1 : 1));
  // Fonts for other letters are not needed for what is not seen.
  return JSON.stringify(Object.fromEntries(entries)).replaceAll(
    /[^ -~]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Writes a text that is not seen with the operators of PDF; `font` is the name of a font of the page. */
export function invisibleOperators(text: string, font: string): string {
  return `BT\n/${font} 0.01 Tf\n3 Tr\n(${text.replaceAll(/[\\()]/g, "\\$&")}) Tj\nET\n`;
}
