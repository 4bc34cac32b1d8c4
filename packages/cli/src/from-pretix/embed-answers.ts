import type { Examiner } from "@tessera/sent-files/examine";
import { isFileType } from "@tessera/sent-files/file-type";
import { isObject } from "@tessera/values";
import { fault } from "../faults.ts";
import type { Pretix } from "./ask-pretix.ts";
import { downloadFile, mostFileBytes, toDataUrl } from "./download-file.ts";
import type { Json } from "./read-answer.ts";

export interface Embedding {
  readonly pretix: Pretix;
  readonly examiner: Pick<Examiner, "examine">;
  readonly organizer: string;
  readonly event: string;
  /** Gets a description of what is left out, without personal data. */
  readonly onLeftOut: (what: string) => void;
}

/** The limit of all files of an order: the platform refuses records above 16 MiB in base64. */
const mostOrderBytes = 11 * 1024 * 1024;

/** Replaces the URLs of uploaded files in an order by their contents. Only a token of pretix can read these URLs. */
export async function embedAnswers(order: Json, embedding: Embedding): Promise<Json> {
  const budget = { left: mostOrderBytes };
  const positions: unknown[] = [];
  for (const position of Array.isArray(order["positions"]) ? order["positions"] : []) {
    const { answers } = isObject(position) ? position : {};
    if (!isObject(position) || !Array.isArray(answers)) {
      positions.push(position);
      continue;
    }
    const embedded: unknown[] = [];
    for (const answer of answers) embedded.push(...(await embed(answer, { ...embedding, position, budget })));
    positions.push({ ...position, answers: embedded });
  }
  return { ...order, positions };
}

type Origin = Embedding & { readonly position: Json; readonly budget: { left: number } };

/** Returns the answer with its file, or nothing if the file is not available. */
async function embed(answer: unknown, origin: Origin): Promise<readonly unknown[]> {
  if (!isObject(answer)) return [answer];
  const url = fileAddress(answer, origin);
  if (url === undefined) return [answer];
  const leaveOut = (why: string) => {
    origin.onLeftOut(
      `${origin.event}: the file of position ${String(origin.position["id"])}, question ${String(answer["question"])} (${why})`,
    );
    return [];
  };
  if (url.origin !== origin.pretix.origin) return leaveOut(`it lies at ${url.origin}, which must not get the token`);
  const mostBytes = Math.min(mostFileBytes, origin.budget.left);
  const file = await downloadFile(origin.pretix, url, { withToken: true, mostBytes });
  if (!file.ok && file.isTransient) {
    // Otherwise the platform would delete the file that an earlier run imported.
    throw fault(
      "file_unavailable",
      `the file of position ${String(origin.position["id"])}, question ${String(answer["question"])} of ${origin.event} cannot be read now (${file.why}); correct that, or the rights of the token, and start again: the import continues here`,
    );
  }
  if (!file.ok) return leaveOut(file.why);
  const { type, bytes } = file;
  // The platform would reject the whole order, and gates would not know its tickets.
  if (!isFileType(type)) return leaveOut("only PNG, JPEG, GIF and PDF are accepted");
  const examined = await origin.examiner.examine({ type, bytes });
  if (!examined.ok) return leaveOut(examined.objection);
  origin.budget.left -= bytes.length;
  return [{ ...answer, answer: toDataUrl(type, bytes), ...(file.name === undefined ? {} : { file_name: file.name }) }];
}

/** A customer may have typed a URL. Only the URL of this very answer is fetched: the request carries the token. */
function fileAddress(answer: Json, { organizer, event, position }: Origin): URL | undefined {
  const url = typeof answer["answer"] === "string" ? URL.parse(answer["answer"]) : null;
  const own = `/api/v1/organizers/${organizer}/events/${event}/orderpositions/${String(position["id"])}/answer/${String(answer["question"])}/`;
  return url?.pathname.endsWith(own) === true && url.protocol.startsWith("http") ? url : undefined;
}
