import { Fault } from "./fault.ts";

/** Says why something was given up. Of an error its kind, not its text: texts of the database quote values, and those may be personal. */
export function describeCause(cause: unknown): string {
  if (cause instanceof Fault) return withoutNul(`${cause.kind} ${cause.code}: ${cause.message}`);
  if (!(cause instanceof Error)) return "unknown";
  const code = "code" in cause && typeof cause.code === "string" ? ` ${cause.code}` : "";
  const where = cause.stack?.split("\n").find((line) => line.trimStart().startsWith("at ")) ?? "";
  return withoutNul(`${cause.name}${code}${where}`);
}

/** Postgres has no room for it in a text. */
export function withoutNul(text: string): string {
  return text.replaceAll("\0", "\ufffd");
}
