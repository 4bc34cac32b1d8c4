/** `curl --data @file` removes the line breaks between records. */
const recordsInOneLine = /\}\s*,?\s*\{\s*"/;

/** Magic bytes of binary formats, as far as no record can begin with them. */
const signatures: readonly (readonly [bytes: readonly number[], remedy: string])[] = [
  [[0x1f, 0x8b], "The body is gzipped: send it with Content-Encoding: gzip."],
  [[0xff, 0xfe], "The body is UTF-16: send it as UTF-8."],
  [[0xfe, 0xff], "The body is UTF-16: send it as UTF-8."],
];

const beginnings: Readonly<Record<string, string>> = {
  "[": "The body is a JSON array: send one record per line, without an array around them.",
  "<": "The body is HTML or XML: send records, one JSON object per line.",
  '"': "The body is a JSON text: send the records themselves, one per line and without quotes around them.",
};

/** Recognizes another format by a first line that is no JSON object. Undefined: a bad line among good ones. */
export function findOtherFormat(line: Buffer): string | undefined {
  const signature = signatures.find(([bytes]) => bytes.every((byte, index) => line[index] === byte));
  if (signature !== undefined) return signature[1];
  const text = line.toString("utf8").trim();
  if (text === "{") return "The first record has several lines: write each record in one line.";
  if (text.startsWith("{") && recordsInOneLine.test(text)) {
    return "The first line holds several records: send one per line. curl keeps line breaks with --data-binary, and removes them with --data.";
  }
  return beginnings[text.charAt(0)];
}
