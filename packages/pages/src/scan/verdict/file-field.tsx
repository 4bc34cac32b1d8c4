import { useId } from "preact/hooks";
import { language, say } from "../scan-speech.ts";
import { type FileProblem, fileTypes, mostBytes } from "./upload-file.ts";

interface FileFieldOptions {
  readonly legend: string;
  readonly file: File | undefined;
  readonly problem: FileProblem | undefined;
  readonly onChoose: (file: File) => void;
}

/** Takes a photo, or a file that there is. Its size is told before it is sent. */
export function FileField({ legend, file, problem, onChoose }: FileFieldOptions) {
  const about = useId();
  const choose = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
    const [chosen] = currentTarget.files ?? [];
    if (chosen !== undefined) onChoose(chosen);
    // The same file can be chosen again.
    currentTarget.value = "";
  };
  return (
    <fieldset class="stack" aria-describedby={about}>
      <legend>{legend}</legend>
      <p class="quiet">{say("file_limits", { size: saySize(mostBytes) })}</p>
      <div class="row">
        <label class="button">
          {say("file_camera")}
          <input class="unseen" type="file" accept="image/*" capture="environment" onChange={choose} />
        </label>
        <label class="button">
          {say("file_choose")}
          <input class="unseen" type="file" accept={fileTypes.join(",")} onChange={choose} />
        </label>
      </div>
      <p id={about} role="status">
        {file === undefined ? "" : say("file_chosen", { name: file.name, size: saySize(file.size) })}
      </p>
      {problem === undefined ? null : (
        <p class="attention" role="alert">
          {sayProblem(problem)}
        </p>
      )}
    </fieldset>
  );
}

function sayProblem(problem: FileProblem): string {
  switch (problem.kind) {
    case "type":
      return say("file_type", { type: problem.type });
    case "empty":
      return say("file_empty");
    case "large":
      return say("file_large", { size: saySize(mostBytes) });
    case "refused":
      return say("file_refused", { detail: problem.detail });
    case "offline":
      return say("file_offline");
    default:
      return say("failed_busy");
  }
}

function saySize(bytes: number): string {
  const [unit, amount] = bytes < 1_000_000 ? ["kilobyte", bytes / 1024] : ["megabyte", bytes / 1024 / 1024];
  return new Intl.NumberFormat(language.value, { style: "unit", unit, maximumFractionDigits: 1 }).format(amount);
}
