import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { Button } from "../../ui/button.tsx";
import { say, sayLocalized } from "../scan-speech.ts";
import { FileField } from "./file-field.tsx";
import { checkFile, type FileProblem, uploadFile } from "./upload-file.ts";
import type { Question } from "./verdict.ts";

interface FormOptions {
  readonly token: string;
  readonly questions: readonly Question[];
  readonly onAnswer: (answers: Readonly<Record<string, string>>) => void;
  /** The device may scan no more. */
  readonly onLost: (why: "revoked" | "unknown") => void;
  readonly onCancel: () => void;
}

/** A file that was chosen for a question, and what was wrong with it. */
interface Chosen {
  readonly file?: File;
  readonly problem?: FileProblem;
}

/** Asks what has to be answered first. An optional question may stay empty, which is an answer, too. Files are sent with it. */
export function QuestionsForm({ token, questions, onAnswer, onLost, onCancel }: FormOptions) {
  const missing = useSignal<number | undefined>(undefined);
  const files = useSignal<Readonly<Record<number, Chosen>>>({});
  const isSending = useSignal(false);
  const ended = useRef(new AbortController());
  useEffect(() => () => ended.current.abort(), []);
  const choose = (id: number, file: File) => {
    const problem = checkFile(file);
    files.value = { ...files.value, [id]: problem === undefined ? { file } : { problem } };
    if (missing.value === id) missing.value = undefined;
  };
  async function submit(form: HTMLFormElement) {
    const answers = readAnswers(new FormData(form), questions);
    const isOpen = (question: Question) =>
      question.type === "F"
        ? question.required && files.value[question.id]?.file === undefined
        : isMissing(question, answers[question.id] ?? "");
    missing.value = questions.find(isOpen)?.id;
    if (missing.value !== undefined || isSending.value) return;
    isSending.value = true;
    for (const { id, type } of questions) {
      const { file } = files.value[id] ?? {};
      if (type !== "F" || file === undefined) continue;
      const uploaded = await uploadFile(file, token, ended.current.signal);
      if (ended.current.signal.aborted) return;
      if ("problem" in uploaded) {
        const { problem } = uploaded;
        isSending.value = false;
        if (problem.kind === "revoked" || problem.kind === "unknown") return onLost(problem.kind);
        files.value = { ...files.value, [id]: { file, problem } };
        return;
      }
      answers[id] = uploaded.id;
    }
    onAnswer(answers);
  }
  const hasFiles = Object.values(files.value).some(({ file }) => file !== undefined);
  return (
    <form
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void submit(event.currentTarget);
      }}
    >
      {questions.map((question) => (
        <OneQuestion
          key={question.id}
          question={question}
          isMissing={missing.value === question.id}
          chosen={files.value[question.id] ?? {}}
          onChoose={(file) => choose(question.id, file)}
        />
      ))}
      <p role="status">{isSending.value && hasFiles ? say("file_sending") : ""}</p>
      <div class="row">
        <Button submits isStrong isOff={isSending.value}>
          {say("answer")}
        </Button>
        <Button onPress={onCancel}>{say("cancel")}</Button>
      </div>
    </form>
  );
}

function readAnswers(form: FormData, questions: readonly Question[]): Record<string, string> {
  return Object.fromEntries(
    questions.map(({ id, type }) => {
      const said = form.getAll(`question-${id}`).map((value) => (typeof value === "string" ? value.trim() : ""));
      return [String(id), type === "B" ? (said[0] ?? "false") : said.join(",")];
    }),
  );
}

/** A required yes has to be a yes. */
function isMissing({ required, type }: Question, answer: string): boolean {
  return required && (answer === "" || (type === "B" && answer !== "true"));
}

interface OneQuestionOptions {
  readonly question: Question;
  readonly isMissing: boolean;
  readonly chosen: Chosen;
  readonly onChoose: (file: File) => void;
}

function OneQuestion({ question, isMissing: lacks, chosen, onChoose }: OneQuestionOptions) {
  const { id, required, type } = question;
  const name = `question-${id}`;
  const text = `${sayLocalized(question.question)} (${say(required ? "required" : "optional")})`;
  const help = useId();
  const field = useId();
  const about = lacks ? help : undefined;
  const isGroup = type === "C" || type === "M" || type === "B";
  const inner = isGroup ? (
    <fieldset class="stack" aria-describedby={about}>
      <legend>{text}</legend>
      <Choices question={question} name={name} />
    </fieldset>
  ) : type === "F" ? (
    <FileField legend={text} file={chosen.file} problem={chosen.problem} onChoose={onChoose} />
  ) : (
    <div class="labelled">
      <label for={field}>{text}</label>
      <Field id={field} type={type} name={name} about={about} isWrong={lacks} />
    </div>
  );
  return (
    <div class="stack">
      {inner}
      {lacks ? (
        <p id={help} class="attention" role="alert">
          {say("answer_missing")}
        </p>
      ) : null}
    </div>
  );
}

function Choices({ question, name }: { readonly question: Question; readonly name: string }) {
  const { type, options } = question;
  const shown =
    type === "B"
      ? [
          { value: "true", text: say("yes") },
          { value: "false", text: say("no") },
        ]
      : options.map(({ id, answer }) => ({ value: String(id), text: sayLocalized(answer) }));
  return (
    <>
      {shown.map(({ value, text }) => (
        <label key={value} class="choice">
          <input type={type === "M" ? "checkbox" : "radio"} name={name} value={value} />
          <span>{text}</span>
        </label>
      ))}
    </>
  );
}

interface FieldOptions {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly about: string | undefined;
  readonly isWrong: boolean;
}

function Field({ id, type, name, about, isWrong }: FieldOptions) {
  const rest = {
    id,
    name,
    class: "field",
    "aria-describedby": about,
    "aria-invalid": isWrong,
    autocomplete: "off",
  } as const;
  switch (type) {
    case "T":
      return <textarea {...rest} rows={3} />;
    case "D":
      return <input {...rest} type="date" />;
    case "H":
      return <input {...rest} type="time" />;
    case "W":
      return <input {...rest} type="datetime-local" />;
    case "TEL":
      return <input {...rest} type="tel" />;
    case "CC":
      return <input {...rest} type="text" placeholder={say("country_code")} maxLength={2} />;
    default:
      return <input {...rest} type="text" inputMode={type === "N" ? "decimal" : "text"} />;
  }
}
