/** What would be wrong with tickets of a layout. */
export interface Finding {
  /** Of the element, from 0. */
  readonly element: number;
  readonly code:
    | "code_too_long"
    | "code_too_small"
    | "no_size"
    | "no_such_page"
    | "outside_page"
    | "overlapping_codes"
    | "text_too_long"
    | "unknown_font"
    | "unknown_variable";
  /** For people. It has nothing of any ticket. */
  readonly message: string;
}

/** A length for people: a tenth of a millimetre is exact enough. */
export function showLength(length: number): string {
  return `${Math.round(length * 10) / 10} mm`;
}
