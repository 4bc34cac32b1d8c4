import type { ByteRange } from "@tessera/kit/files/files";

/** The requested part of a file; `unsatisfiable`: it begins after the end. */
type AskedRange = Required<ByteRange> | "whole" | "unsatisfiable";

/** Reads a Range header. A header with several ranges, or malformed, requests the whole file. */
export function readRange(header: string, size: number): AskedRange {
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header.trim()) ?? [];
  if (first === "" && last === "") return "whole";
  if (first === "") return last === "0" ? "unsatisfiable" : { first: Math.max(0, size - Number(last)), last: size - 1 };
  if (last !== "" && Number(last) < Number(first)) return "whole";
  if (Number(first) >= size) return "unsatisfiable";
  return { first: Number(first), last: last === "" ? size - 1 : Math.min(Number(last), size - 1) };
}

/** Whether a list of entity tags contains one. Weak tags name the same bytes here. */
export function namesTag(header: string, tag: string): boolean {
  return header.split(",").some((each) => each.trim() === "*" || each.trim().replace(/^W\//, "") === tag);
}
