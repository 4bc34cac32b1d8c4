/**
 * The styles of pages that are printed together. Most elements look alike on all tickets: the browser reads each style once,
 * and not with every element.
 */
export class StyleSheet {
  readonly #names = new Map<string, string>();

  /** The class for a style: declarations without braces. */
  classOf(style: string): string {
    let name = this.#names.get(style);
    if (name === undefined) {
      name = `s${this.#names.size}`;
      this.#names.set(style, name);
    }
    return name;
  }

  /** All rules. */
  get text(): string {
    return Array.from(this.#names, ([style, name]) => `.${name}{${style}}`).join("\n");
  }
}
