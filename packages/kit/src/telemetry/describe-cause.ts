import { Fault } from "../fault.ts";

/** Describes an error for an operator by its kind and place. Its text is left out: texts of the database quote values, which may be personal. */
export function describeCause(cause: unknown): string {
  if (cause instanceof Fault) return withoutNul(`${cause.kind} ${cause.code}: ${cause.message}`);
  if (!(cause instanceof Error)) return "unknown";
  const code = "code" in cause && typeof cause.code === "string" ? ` ${cause.code}` : "";
  const where = cause.stack?.split("\n").find((line) => line.trimStart().startsWith("at ")) ?? "";
  return withoutNul(`${cause.name}${code}${where}`);
}

/** A text of Postgres cannot contain NUL. */
export function withoutNul(text: string): string {
  return text.replaceAll("\0", "\ufffd");
}
