import { inspect } from "node:util";

const mark = "[secret]";

/**
 * A password, a key or a signed URL. It prints as a mark wherever it is written by accident: in a log line, a template
 * string, JSON or a debugger. Only `reveal` returns it.
 */
export class Secret<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  /** Returns the value, for the one place that needs it. */
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
