/** A problem that tickets of a layout would have. */
export interface Finding {
  /** The index of the element. */
  readonly element: number;
  readonly code:
    | "code_too_light"
    | "code_too_long"
    | "code_too_small"
    | "ground_too_dark"
    | "no_size"
    | "no_such_page"
    | "no_text"
    | "outside_page"
    | "overlapping_codes"
    | "text_too_light"
    | "text_too_long"
    | "unknown_font"
    | "unknown_variable";
  /** For people; without data of any ticket. */
  readonly message: string;
}

/** Formats a length for people: a tenth of a millimetre is exact enough. */
export function showLength(length: number): string {
  return `${Math.round(length * 10) / 10} mm`;
}
