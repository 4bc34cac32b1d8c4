import { makeKey } from "../../ui/make-key.ts";
import { type Answer, askServer } from "../server/ask-server.ts";

/** The types that the server takes, with the endings of their names, the usual one first. */
const endings: Readonly<Record<string, readonly [string, ...string[]]>> = {
  "image/jpeg": [".jpg", ".jpeg"],
  "image/png": [".png"],
  "image/gif": [".gif"],
  "application/pdf": [".pdf"],
};

export const fileTypes = Object.keys(endings);

/** The limit of the server, unless it was given another one; then its answer says so. */
export const mostBytes = 10 * 1024 * 1024;

/** A line of 1 Mbit/s takes 84 seconds for the largest file. */
const uploadMs = 120_000;

export type FileProblem =
  | { readonly kind: "empty" | "large" }
  | { readonly kind: "type"; readonly type: string }
  | { readonly kind: Exclude<Answer["kind"], "answer"> }
  | { readonly kind: "refused"; readonly detail: string };

/** Tells what the server would refuse before anything is sent. */
export function checkFile({ size, type, name }: Pick<File, "size" | "type" | "name">): FileProblem | undefined {
  if (!Object.hasOwn(endings, type)) return { kind: "type", type: type === "" ? name : type };
  if (size === 0) return { kind: "empty" };
  return size > mostBytes ? { kind: "large" } : undefined;
}

/** The name that goes with a file: phones give photos names that do not fit their type. */
export function nameToSend({ name, type }: Pick<File, "name" | "type">): string {
  const fitting = endings[type] ?? [""];
  if (fitting.some((ending) => name.endsWith(ending) && name.length > ending.length)) return name;
  return `${name.replace(/\.[^.]*$/, "") || "file"}${fitting[0]}`;
}

/** What was sent is not sent again, and a repeated upload counts once. */
const sent = new WeakMap<File, { readonly key: string; id?: string }>();

/** Sends a file; its id is the answer to a question. */
export async function uploadFile(
  file: File,
  token: string,
  signal: AbortSignal,
): Promise<{ readonly id: string } | { readonly problem: FileProblem }> {
  const before = sent.get(file) ?? { key: makeKey() };
  sent.set(file, before);
  if (before.id !== undefined) return { id: before.id };
  const { type } = file;
  const content = { content: file, type, name: nameToSend(file), key: before.key };
  const answer = await askServer("upload", { method: "POST", file: content, token, timeoutMs: uploadMs, signal });
  if (answer.kind !== "answer") return { problem: { kind: answer.kind } };
  const { id, detail } = (answer.body ?? {}) as { readonly id?: unknown; readonly detail?: unknown };
  if (typeof id !== "string")
    return { problem: { kind: "refused", detail: typeof detail === "string" ? detail : String(answer.status) } };
  before.id = id;
  return { id };
}
