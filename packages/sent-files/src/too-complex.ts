/** Thrown for a file whose pages need too much. */
export class TooComplex extends Error {}
