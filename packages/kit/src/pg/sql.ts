/** A statement with its bound values; made only by `sql`, so a value can never become text. */
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

  /** Writes the text with placeholders numbered behind those already in `values`. */
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

/** Writes a statement: nested statements are spliced and renumbered, everything else is bound. */
export function sql(strings: TemplateStringsArray, ...parts: readonly unknown[]): Sql {
  return new Statement(strings, parts);
}

/** Joins statements, for instance conditions with ` and `. */
export function joinSql(statements: readonly Sql[], separator: string): Sql {
  const strings = statements.map((_, index) => (index === 0 ? "" : separator));
  return new Statement([...strings, ""], statements);
}

/** Quotes a table or column name that is known only at run time. */
export function identifier(name: string): Sql {
  return new Statement([`"${name.replaceAll('"', '""')}"`], []);
}

/** Quotes a text where Postgres takes no parameter, as in DDL. */
export function literal(text: string): Sql {
  if (text.includes("\\")) throw new Error("a literal with a backslash needs another quoting");
  return new Statement([`'${text.replaceAll("'", "''")}'`], []);
}
