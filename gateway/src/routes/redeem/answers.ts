import type { Fault } from "@tessera/kit/fault";
import type { SentAnswer, SentFile } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { isUuid } from "@tessera/values";
import { fault } from "../../faults.ts";
import { scanBytes } from "./schema.ts";

/** Finds the uploads that the caller of a scan may name, of those with these ids. */
export type FindUploads = (ids: readonly string[]) => Promise<readonly SentFile[]>;

/**
 * Reads what a scanner answers, by question. What names no question is ignored, and so is a number that is too large, which
 * would be passed on as null and take an answer back; what names an upload brings its file along.
 */
export async function readAnswers(
  answers: Readonly<Record<string, unknown>> | null | undefined,
  findUploads: FindUploads,
): Promise<SentAnswer[]> {
  const sent = Object.entries(answers ?? {}).filter(
    ([question, value]) =>
      /^[1-9]\d{0,15}$/.test(question) && Number.isSafeInteger(Number(question)) && isWritable(value),
  );
  if (sent.length === 0) return [];
  const named = sent.flatMap(([, value]) => idOfUpload(value) ?? []);
  const files = named.length === 0 ? [] : await findUploads([...new Set(named)]);
  const fileOf = new Map(files.map((file) => [file.upload, file]));
  const written = sent.map(([question, value]) => {
    const file = fileOf.get(idOfUpload(value) ?? "");
    return { question: Number(question), value: JSON.stringify(value), ...(file === undefined ? {} : { file }) };
  });
  if (written.reduce((length, { value }) => length + value.length, 0) > scanBytes) throw tooLong();
  return written;
}

/** Whether JSON has words for all of it: it has none for what overflows a number. */
function isWritable(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  return typeof value !== "object" || value === null || Object.values(value).every(isWritable);
}

/** A number may be written with more digits than it was sent with: `1e20` has four characters. */
function tooLong(): Fault {
  const message = `These answers have more than ${scanBytes} characters.`;
  return fault("invalid_body", message, { fields: { answers: [message] } });
}

function idOfUpload(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const id = /^file:(.+)$/i.exec(value.trim())?.[1]?.toLowerCase() ?? "";
  return isUuid(id) ? id : undefined;
}
