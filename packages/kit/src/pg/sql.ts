/** A statement with its bound values. Only `sql` makes it, so a value never becomes text of the statement. */
export interface Sql {
  readonly text: string;
  readonly values: readonly unknown[];
}

class Statement implements Sql {
  readonly #strings: readonly string[];
  readonly #parts: readonly unknown[];
  #built: Sql | undefined;

  constructor(strings: readonly string[], parts: readonly unknown[]) {
    this.#strings = strings;
    this.#parts = parts;
  }

  get text(): string {
    return this.#build().text;
  }

  get values(): readonly unknown[] {
    return this.#build().values;
  }

  #build(): Sql {
    if (this.#built === undefined) {
      const values: unknown[] = [];
      this.#built = { text: this.append(values), values };
    }
    return this.#built;
  }

  /** Returns the text, and adds its values. Placeholders are numbered after those that are in `values` already. */
  append(values: unknown[]): string {
    let text = this.#strings[0] ?? "";
    for (const [index, part] of this.#parts.entries()) {
      if (part instanceof Statement) text += part.append(values);
      else text += `$${values.push(part)}`;
      text += this.#strings[index + 1] ?? "";
    }
    return text;
  }
}

/** Makes a statement. Nested statements become part of the text and are renumbered; all other values are bound. */
export function sql(strings: TemplateStringsArray, ...parts: readonly unknown[]): Sql {
  return new Statement(strings, parts);
}

/** Joins statements, for instance conditions with ` and `. */
export function joinSql(statements: readonly Sql[], separator: string): Sql {
  const strings = statements.map((_, index) => (index === 0 ? "" : separator));
  return new Statement([...strings, ""], statements);
}

/** Quotes the name of a table or column. */
export function identifier(name: string): Sql {
  return new Statement([`"${name.replaceAll('"', '""')}"`], []);
}

/** Quotes a text for statements without parameters, such as DDL. */
export function literal(text: string): Sql {
  if (text.includes("\\")) throw new Error("a literal with a backslash needs another quoting");
  return new Statement([`'${text.replaceAll("'", "''")}'`], []);
}
