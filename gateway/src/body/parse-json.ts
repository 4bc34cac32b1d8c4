import { fault } from "../faults.ts";
import { findExcess } from "./nesting.ts";

/** Parses a JSON text of few values at once. */
export function parseJson(json: string, mostValues: number): unknown {
  const excess = findExcess(json, mostValues);
  if (excess === "levels") throw fault("malformed_body", "The body nests too deep.");
  if (excess === "values") throw fault("malformed_body", `The body holds more than ${mostValues} values.`);
  try {
    return JSON.parse(json) as unknown;
  } catch {
    // The parser's message quotes the body, which may contain personal data.
    throw fault("malformed_body", "The body is not valid JSON.");
  }
}
