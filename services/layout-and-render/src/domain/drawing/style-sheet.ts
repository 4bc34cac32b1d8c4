/** The styles of pages that are printed together: the browser parses each style once, not once per element. */
export class StyleSheet {
  readonly #names = new Map<string, string>();

  /** The class of a style: declarations without braces. */
  classOf(style: string): string {
    let name = this.#names.get(style);
    if (name === undefined) {
      name = `s${this.#names.size}`;
      this.#names.set(style, name);
    }
    return name;
  }

  get text(): string {
    return Array.from(this.#names, ([style, name]) => `.${name}{${style}}`).join("\n");
  }
}
