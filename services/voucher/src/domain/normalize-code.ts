const shortest = 5;
const longest = 255;

/** Normalizes a code for storage and comparison: letter case and the encoding of accents do not matter. */
export function normalizeCode(sent: string): string {
  return sent.trim().toUpperCase().normalize("NFC");
}

/** Says why a normalized code cannot be that of a voucher. */
export function findCodeProblem(code: string): string | undefined {
  // Measured after normalization, because the upper case of a letter may have several letters.
  const length = [...code].length;
  if (length === 0) return "This field may not be blank.";
  if (length < shortest) return `Ensure this field has at least ${shortest} characters.`;
  if (length > longest) return `Ensure this field has no more than ${longest} characters.`;
  if (/\p{Cc}/u.test(code)) return "A code has no control characters, such as tabs and line breaks.";
  return undefined;
}
