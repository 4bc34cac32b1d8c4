/** What a page consists of besides the code of this repository. */
export interface Bundled {
  readonly name: string;
  /** Undefined: it is a part of a package that does not say which version it holds. */
  readonly version?: string;
  /** An identifier of SPDX, or an expression. */
  readonly license: string;
  /** The package that holds it as a part. */
  readonly within?: string;
}

export interface Licensed extends Bundled {
  /** The text that has to go with it. */
  readonly text: string;
}
