import { inspect } from "node:util";

const mark = "[secret]";

/**
 * A value that opens something: a password, a key, a signed URL. It prints as a mark wherever it is written by accident:
 * a log line, a template string, JSON, a debugger's inspection. Only `reveal` gives it out.
 */
export class Secret<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  /** Gives out the value, for the one place that needs it. */
  reveal(): T {
    return this.#value;
  }

  toString(): string {
    return mark;
  }

  toJSON(): string {
    return mark;
  }

  [inspect.custom](): string {
    return mark;
  }
}
