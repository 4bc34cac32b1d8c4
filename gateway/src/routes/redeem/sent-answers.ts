import type { Fault } from "@tessera/kit/fault";
import type { SentAnswer, SentFile } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { isUuid } from "@tessera/values";
import { fault } from "../../faults.ts";
import { scanBytes } from "./schema.ts";

/** Finds the uploads with these ids that the caller of a scan may name. */
export type FindUploads = (ids: readonly string[]) => Promise<readonly SentFile[]>;

type Answers = Readonly<Record<string, unknown>> | null | undefined;

/** The uploads that answers name. */
export function namedUploads(answers: Answers): string[] {
  return Object.values(answers ?? {}).flatMap((value) => idOfUpload(value) ?? []);
}

/**
 * Reads the answers of a scanner, by question. Ignored are names of no question, and numbers that overflow, which would
 * be passed on as null and delete an answer. An upload brings its file along.
 */
export async function readAnswers(answers: Answers, findUploads: FindUploads): Promise<SentAnswer[]> {
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

/** Whether JSON can represent the value: it cannot represent numbers that overflow. */
function isWritable(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  return typeof value !== "object" || value === null || Object.values(value).every(isWritable);
}

/** A number may be serialized with more digits than it was sent with: `1e20` has four characters. */
function tooLong(): Fault {
  const message = `These answers have more than ${scanBytes} characters.`;
  return fault("invalid_body", message, { fields: { answers: [message] } });
}

function idOfUpload(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const id = /^file:(.+)$/i.exec(value.trim())?.[1]?.toLowerCase() ?? "";
  return isUuid(id) ? id : undefined;
}
