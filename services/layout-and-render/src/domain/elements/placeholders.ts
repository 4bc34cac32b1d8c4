/** `{name}` in a text. */
const placeholder = /\{([-A-Za-z0-9:_]+)\}/g;

export function findPlaceholders(text: string): IterableIterator<RegExpExecArray> {
  return text.matchAll(placeholder);
}
