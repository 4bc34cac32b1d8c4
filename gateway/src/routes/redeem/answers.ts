import type { SentAnswer, SentFile } from "@tessera/protos/gen/ticketing/checkin/v1/scans";

/** Finds the uploads that the caller of a scan may name, of those with these ids. */
export type FindUploads = (ids: readonly string[]) => Promise<readonly SentFile[]>;

const upload = /^file:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

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
  return typeof value === "string" ? upload.exec(value.trim())?.[1]?.toLowerCase() : undefined;
}
