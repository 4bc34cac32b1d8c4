const shortest = 5;
const longest = 255;

/** Gives a code the form in which it is stored and compared. Neither letter case nor the way an accent is encoded tells codes apart. */
export function normalizeCode(sent: string): string {
  return sent.trim().toUpperCase().normalize("NFC");
}

/** Says why a normalized code cannot be that of a voucher. */
export function findCodeProblem(code: string): string | undefined {
  // Of the normalized code, because a letter may have an upper case of several.
  const length = [...code].length;
  if (length === 0) return "This field may not be blank.";
  if (length < shortest) return `Ensure this field has at least ${shortest} characters.`;
  if (length > longest) return `Ensure this field has no more than ${longest} characters.`;
  if (/\p{Cc}/u.test(code)) return "A code has no control characters, such as tabs and line breaks.";
  return undefined;
}
