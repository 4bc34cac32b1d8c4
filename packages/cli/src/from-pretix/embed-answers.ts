import { isObject } from "@tessera/values";
import { fault } from "../faults.ts";
import type { Pretix } from "./ask-pretix.ts";
import { downloadFile, mostFileBytes } from "./download-file.ts";
import type { Json } from "./read-answer.ts";

export interface Embedding {
  readonly pretix: Pretix;
  readonly organizer: string;
  readonly event: string;
  /** Told what is left out, without anything personal. */
  readonly onLeftOut: (what: string) => void;
}

/** What all files of an order may have together: a record that is longer than 16 MiB in base64 is refused. */
const mostOrderBytes = 11 * 1024 * 1024;

/** Types of answers that are files; an order with another one would be rejected as a whole. */
const takenTypes = /^data:(?:image\/(?:png|jpeg|gif)|application\/pdf)[;,]/i;

/** Puts uploaded files into an order in place of their addresses, which only a token of pretix opens. */
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

type Place = Embedding & { readonly position: Json; readonly budget: { left: number } };

/** An answer with its file in it; none where the file cannot be had. */
async function embed(answer: unknown, place: Place): Promise<readonly unknown[]> {
  if (!isObject(answer)) return [answer];
  const url = fileAddress(answer, place);
  if (url === undefined) return [answer];
  const leaveOut = (why: string) => {
    place.onLeftOut(
      `${place.event}: the file of position ${String(place.position["id"])}, question ${String(answer["question"])} (${why})`,
    );
    return [];
  };
  if (url.origin !== place.pretix.origin) return leaveOut(`it lies at ${url.origin}, which must not get the token`);
  const mostBytes = Math.min(mostFileBytes, place.budget.left);
  const file = await downloadFile(place.pretix, url, { withToken: true, mostBytes });
  if (!file.ok && file.passes) {
    // Sent without it, the order would lose the file that it was imported with before.
    throw fault(
      "file_unavailable",
      `the file of position ${String(place.position["id"])}, question ${String(answer["question"])} of ${place.event} cannot be had now (${file.why}); mend that, or the rights of the token, and start again: the import goes on from here`,
    );
  }
  if (!file.ok) return leaveOut(file.why);
  if (!takenTypes.test(file.dataUrl)) return leaveOut("only pictures in PNG, JPEG or GIF and PDFs are taken");
  place.budget.left -= file.bytes;
  return [{ ...answer, answer: file.dataUrl, ...(file.name === undefined ? {} : { file_name: file.name }) }];
}

/**
 * A text that a customer typed may be an address, too. Only that of this very answer counts: what else it could name
 * is nothing that the importer should fetch with its token.
 */
function fileAddress(answer: Json, { organizer, event, position }: Place): URL | undefined {
  const url = typeof answer["answer"] === "string" ? URL.parse(answer["answer"]) : null;
  const own = `/api/v1/organizers/${organizer}/events/${event}/orderpositions/${String(position["id"])}/answer/${String(answer["question"])}/`;
  return url?.pathname.endsWith(own) === true && url.protocol.startsWith("http") ? url : undefined;
}
