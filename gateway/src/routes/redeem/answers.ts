import type { SentAnswer, SentFile } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { isUuid } from "@tessera/values";

/** Finds the uploads that the caller of a scan may name, of those with these ids. */
export type FindUploads = (ids: readonly string[]) => Promise<readonly SentFile[]>;

/** Reads what a scanner answers, by question. What names no question is ignored; what names an upload brings its file along. */
export async function readAnswers(
  answers: Readonly<Record<string, unknown>> | null | undefined,
  findUploads: FindUploads,
): Promise<SentAnswer[]> {
  const sent = Object.entries(answers ?? {}).filter(
    ([question]) => /^[1-9]\d{0,15}$/.test(question) && Number.isSafeInteger(Number(question)),
  );
  if (sent.length === 0) return [];
  const named = sent.flatMap(([, value]) => idOfUpload(value) ?? []);
  const files = named.length === 0 ? [] : await findUploads([...new Set(named)]);
  const fileOf = new Map(files.map((file) => [file.upload, file]));
  return sent.map(([question, value]) => {
    const file = fileOf.get(idOfUpload(value) ?? "");
    return { question: Number(question), value: JSON.stringify(value), ...(file === undefined ? {} : { file }) };
  });
}

function idOfUpload(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const id = /^file:(.+)$/i.exec(value.trim())?.[1]?.toLowerCase() ?? "";
  return isUuid(id) ? id : undefined;
}
