import type { Fault } from "@tessera/kit/fault";
import { inSlices } from "@tessera/kit/waiting/in-slices";
import { fault } from "../faults.ts";
import { nameKind } from "../http/list-body.ts";
import type { ListBody } from "../http/route.ts";
import { closeBrace, comma, deepestNesting, JsonScan, openBrace, openBracket, quote } from "./nesting.ts";

type Limits = Pick<ListBody<unknown>, "mostElements" | "longestElement" | "mostValues" | "mostInAll">;

/** The characters that are parsed at once, in less than a millisecond. */
const pieceLength = 64 * 1024;

/** Some elements of a list, with the commas between them. */
interface Piece {
  readonly text: string;
  readonly elements: number;
}

/** Parses a long JSON list in slices, so that it does not block the event loop. */
export async function parseList(json: string, limits: Limits): Promise<readonly unknown[]> {
  const start = json.search(/[^ \t\n\r]/);
  const first = json.charCodeAt(start);
  if (first !== openBracket) throw noList(first, json);
  const list: unknown[] = [];
  await inSlices(piecesOf(json, start + 1, limits), ({ text, elements }) => {
    const parsed = parse(`[${text}]`) as unknown[];
    // `[1,]` ends with an empty element.
    if (parsed.length !== elements) throw malformed();
    for (const element of parsed) list.push(element);
  });
  return list;
}

/** Splits a list between its elements, without validating them. */
function* piecesOf(
  json: string,
  start: number,
  { mostElements, longestElement, mostValues, mostInAll }: Limits,
): Generator<Piece> {
  const scan = new JsonScan(json, { start, depth: 1 });
  let pieceStart = start;
  let elementStart = start;
  let inPiece = 0;
  let inList = 0;
  let valuesBefore = 0;
  for (let code = scan.next(); code !== undefined; code = scan.next()) {
    const { at, depth, values } = scan;
    if (at - elementStart > longestElement) throw tooLong(longestElement);
    if (depth > deepestNesting) throw fault("malformed_body", "The body nests too deep.");
    if (code === comma && depth === 1) {
      inPiece += 1;
      inList += 1;
      elementStart = at + 1;
      valuesBefore = values;
      if (inList >= mostElements) throw tooMany(mostElements);
      if (at - pieceStart < pieceLength) continue;
      yield { text: json.slice(pieceStart, at), elements: inPiece };
      pieceStart = at + 1;
      inPiece = 0;
    } else if (depth === 0) {
      if (code === closeBrace || /[^ \t\n\r]/.test(json.slice(at + 1))) throw malformed();
      const isEmpty = inList === 0 && /^[ \t\n\r]*$/.test(json.slice(start, at));
      if (!isEmpty) yield { text: json.slice(pieceStart, at), elements: inPiece + 1 };
      return;
    } else {
      // Commas between elements are not values.
      if (values - valuesBefore >= mostValues) throw tooFull("An element of the list", mostValues);
      if (values - inList > mostInAll) throw tooFull("The list", mostInAll);
    }
  }
  throw malformed();
}

/** The fault for a body that is no list; its first character tells objects and texts. */
function noList(first: number, json: string): Fault {
  const value = first === openBrace ? {} : first === quote ? "" : parse(json);
  const problem = value === null ? "No data provided." : `Expected a list of items but got type "${nameKind(value)}".`;
  return refusal(problem);
}

function tooMany(most: number): Fault {
  return refusal(`At most ${most} elements are allowed at once.`);
}

function refusal(problem: string): Fault {
  return fault("invalid_body", "the list is not valid", { fields: { non_field_errors: [problem] } });
}

function tooLong(longest: number): Fault {
  return fault("body_too_large", `An element of the list is longer than the ${longest} characters allowed.`);
}

function tooFull(what: string, most: number): Fault {
  return fault("malformed_body", `${what} holds more than ${most} values.`);
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    // The parser's message quotes the body, which may contain personal data.
    throw malformed();
  }
}

function malformed(): Fault {
  return fault("malformed_body", "The body is not valid JSON.");
}
