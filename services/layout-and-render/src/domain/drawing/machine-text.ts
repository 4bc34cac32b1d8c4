/** The invisible text of a code for programs: the issuer of the ticket, and the content by its name in the layout. */
export function machineText({ issuer, name, value }: { issuer: string; name: string; value: string }): string {
  const entries = Object.entries({ issuer, [name]: value }).sort(([one], [other]) => (one < other ? -1 : 1));
  // ASCII only, since invisible text should need no other font.
  return JSON.stringify(Object.fromEntries(entries)).replaceAll(
    /[^ -~]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Writes an invisible text with PDF operators; `font` is a font resource of the page. */
export function invisibleOperators(text: string, font: string): string {
  return `BT\n/${font} 0.01 Tf\n3 Tr\n(${text.replaceAll(/[\\()]/g, "\\$&")}) Tj\nET\n`;
}
