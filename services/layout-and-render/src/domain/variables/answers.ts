import { parseInstant } from "@tessera/values";
import type { AnswerImage } from "../elements/resolved-element.ts";
import { formatPhone } from "../formats/format-phone.ts";
import { readDay, readTime } from "../formats/local-time.ts";
import type { Answer, Question, Ticket } from "../ticket.ts";
import { type Evaluate, type View, whereItIs } from "./view.ts";

export const questionPrefix = "question_";

/** Finds the question that `question_<identifier>`, or the old form `question_<id>`, names. */
export function findQuestion({ questions }: Ticket, name: string): Question | undefined {
  if (!name.startsWith(questionPrefix)) return undefined;
  const wanted = name.slice(questionPrefix.length);
  const number = Number(wanted);
  const named = questions.find(({ identifier }) => identifier === wanted);
  return named ?? (String(number) === wanted ? questions.find(({ id }) => id === number) : undefined);
}

/** Finds an answer and its position: the ticket, else its base ticket. */
function findAnswer({ position, parent }: Ticket, question: Question): (AnswerImage & { answer: Answer }) | undefined {
  for (const each of [position, parent]) {
    const answer = each?.answers.find((given) => given.question === question.id);
    if (each && answer !== undefined) return { position: each.id, question: question.id, answer };
  }
  return undefined;
}

/** Makes the variable of a question; a file is no text. */
export function answerTo(question: Question): Evaluate | undefined {
  if (question.type === "F") return undefined;
  return (view) => {
    const found = findAnswer(view.ticket, question);
    return found === undefined ? "" : writeAnswer(found.answer, { question, view });
  };
}

/** Finds the picture that answers a question. */
export function findImage(ticket: Ticket, name: string): AnswerImage | null {
  const question = findQuestion(ticket, name);
  const found = question?.type === "F" ? findAnswer(ticket, question) : undefined;
  if (found === undefined || !found.answer.fileType?.startsWith("image/")) return null;
  return { position: found.position, question: found.question };
}

function writeAnswer(answer: Answer, { question, view }: { question: Question; view: View }): string {
  const { text } = answer;
  const { dates, words } = view.formats;
  switch (question.type) {
    case "B":
      return /^(?:true|1|yes|on)$/i.test(text) ? words.yes : words.no;
    case "C":
    case "M":
      return writeChoices(answer, { question, view });
    case "D": {
      const day = readDay(text);
      return day === undefined ? text : dates.shortDate(day);
    }
    case "H": {
      const time = readTime(text);
      return time === undefined ? text : dates.time(time);
    }
    case "W": {
      const instant = parseInstant(text);
      return instant === undefined ? text : dates.shortDateTime(whereItIs(view, instant));
    }
    case "CC":
      return view.formats.country(text);
    case "TEL":
      return formatPhone(text);
    default:
      return text;
  }
}

/** The current texts of the chosen options; the stored text if an option was deleted. */
function writeChoices({ text, chosen }: Answer, { question, view }: { question: Question; view: View }): string {
  const options = chosen.map((wanted) =>
    question.options.find(({ id, identifier }) => [id, identifier].includes(wanted)),
  );
  const found = options.filter((option) => option !== undefined);
  if (found.length === 0 || found.length < chosen.length) return text;
  return found.map(({ answer }) => view.formats.text(answer)).join(", ");
}
