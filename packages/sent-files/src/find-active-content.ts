import { PDFArray, PDFDict, PDFHexString, PDFName, type PDFObject, PDFStream, PDFString } from "@cantoo/pdf-lib";

export const encrypted = "The PDF is encrypted. Send one without a password.";
const active = (what: string) => `The PDF holds ${what}, which is not allowed here. Send one that can only be read.`;

const script = active("JavaScript");
const embedded = active("an embedded file");
const media = active("video, sound or 3D content");
const otherFile = active("a reference to another file");
const strangeLink = active("a link that leads elsewhere than to a web page, a mail address or a telephone");

/** Names that a read-only document must not contain anywhere. */
const forbidden: ReadonlyMap<string, string> = new Map([
  ["JavaScript", script],
  ["Launch", active("an action that starts programs")],
  ["EmbeddedFile", embedded],
  ["EmbeddedFiles", embedded],
  ["FileAttachment", embedded],
  ["RichMedia", media],
  ["Rendition", media],
  ["Movie", media],
  ["Sound", media],
  ["GoTo3DView", media],
  ["GoToR", otherFile],
  ["GoToE", otherFile],
  ["SubmitForm", active("an action that sends data")],
  ["ImportData", active("an action that reads files")],
  ["Encrypt", encrypted],
]);

/** Short names occur by chance in compressed content, and as names of fonts: only keys of entries count. */
const forbiddenEntries: ReadonlyMap<string, string> = new Map([
  ...forbidden,
  ["JS", script],
  ["EF", embedded],
  ["XFA", active("an XFA form")],
  ["AA", active("actions that run by themselves")],
  ["3DD", media],
]);

/** Names that are harmful under one key and harmless under others: `Screen` is a blend mode as well. */
const forbiddenValues: readonly (readonly [key: string, value: string, message: string])[] = [
  ["Subtype", "Screen", media],
  ["Subtype", "3D", media],
  ["S", "Thread", otherFile],
];

/** A text under one of these keys is the path of a file; flags and the beginnings of articles stand there as well. */
const fileKeys = ["F", "UF", "DOS", "Mac", "Unix"].map((key) => PDFName.of(key));

/** Under these keys stand addresses. */
const addressKeys = ["URI", "Base"].map((key) => PDFName.of(key));

const openedSchemes: ReadonlySet<string> = new Set(["http", "https", "mailto", "tel"]);

/** The parser has one object per name. */
const asNames = (names: ReadonlyMap<string, string>): ReadonlyMap<PDFName, string> =>
  new Map(Array.from(names, ([name, message]) => [PDFName.of(name), message]));
const refusedNames = asNames(forbidden);
const refusedEntries = asNames(forbiddenEntries);
const refusedValues = forbiddenValues.map(
  ([key, value, message]) => [PDFName.of(key), PDFName.of(value), message] as const,
);

const delimiter = "(?=[\\0\\t\\n\\f\\r ()<>[\\]{}/%]|$)";
/** Blanks and comments, of a length that no forger can use to make a search slow. */
const between = "(?:[\\0\\t\\n\\f\\r ]|%[^\\r\\n]{0,200}[\\r\\n]){0,200}";

/** Each character may also be written as its number: `/Java#53cript`. */
const spelled = (name: string) =>
  Array.from(name, (character) => {
    const digits = character.charCodeAt(0).toString(16);
    return `(?:${character}|#${digits.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)})`;
  }).join("");

const written = (name: string) => `/${spelled(name)}${delimiter}`;

const searched: readonly (readonly [RegExp, string])[] = [
  ...Array.from(forbidden, ([name, message]) => [new RegExp(written(name)), message] as const),
  ...forbiddenValues.map(
    ([key, value, message]) => [new RegExp(`/${spelled(key)}${between}${written(value)}`), message] as const,
  ),
  [new RegExp(`/${spelled("URI")}${between}\\(\\s*(?i:javascript)\\s*:`), script],
];

/** All of them in one pass: files are large, and hardly one has any. */
const anySearched = new RegExp(searched.map(([pattern]) => pattern.source).join("|"));

const objectStream = new RegExp(written("ObjStm"), "g");

/** Finds what is active in a text of PDF, readable or not; undefined: nothing. */
export function findInText(text: string): string | undefined {
  return anySearched.test(text) ? searched.find(([pattern]) => pattern.test(text))?.[1] : undefined;
}

/** Counts the streams of packed objects that a text of PDF announces. */
export function countObjectStreams(text: string): number {
  return text.match(objectStream)?.length ?? 0;
}

/** Finds what is active in an object and its direct contents; objects that it refers to are examined by themselves. */
export function findInObject(root: PDFObject): string | undefined {
  const pending: PDFObject[] = [root];
  for (let object = pending.pop(); object !== undefined; object = pending.pop()) {
    const found = findInOne(object);
    if (found !== undefined) return found;
    if (object instanceof PDFArray) pending.push(...object.asArray());
    else if (object instanceof PDFStream) pending.push(object.dict);
    else if (object instanceof PDFDict) pending.push(...object.values());
  }
  return undefined;
}

function findInOne(object: PDFObject): string | undefined {
  if (object instanceof PDFName) return refusedNames.get(object);
  // The content of such a stream is another file.
  if (object instanceof PDFStream) return object.dict.has(PDFName.of("F")) ? otherFile : undefined;
  if (!(object instanceof PDFDict)) return undefined;
  const key = object.keys().find((each) => refusedEntries.has(each));
  if (key !== undefined) return refusedEntries.get(key);
  const value = refusedValues.find(([under, name]) => object.lookup(under) === name);
  if (value !== undefined) return value[2];
  if (fileKeys.some((each) => isText(object.lookup(each)))) return otherFile;
  for (const each of addressKeys) {
    const address = object.lookup(each);
    if (isText(address) && !isOpened(address.decodeText())) return strangeLink;
  }
  return findOpening(object);
}

/** The action on opening a document may only show one of its pages, and no other may follow it. */
function findOpening(dict: PDFDict): string | undefined {
  const action = dict.lookup(PDFName.of("OpenAction"));
  if (!(action instanceof PDFDict)) return undefined;
  const isOther = action.lookup(PDFName.of("S")) !== PDFName.of("GoTo") || action.has(PDFName.of("Next"));
  return isOther ? active("an action that runs when it is opened") : undefined;
}

function isText(object: PDFObject | undefined): object is PDFString | PDFHexString {
  return object instanceof PDFString || object instanceof PDFHexString;
}

/**
 * Whether an address is one of the web, of mail or of a telephone, or relative. Readers skip blanks and controls in it, and marks
 * of an encoding before it.
 */
function isOpened(address: string): boolean {
  const text = address.replaceAll(/[^!-~]/g, "");
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1];
  // Two slashes of either kind begin the name of a file server.
  return scheme === undefined ? !/^[\\/]{2}/.test(text) : openedSchemes.has(scheme.toLowerCase());
}
