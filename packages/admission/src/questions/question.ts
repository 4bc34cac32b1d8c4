import type { Localized } from "@tessera/values";

export type QuestionType = "N" | "S" | "T" | "B" | "C" | "M" | "F" | "D" | "H" | "W" | "CC" | "TEL";

export interface Option {
  readonly id: number;
  readonly identifier: string;
  readonly position: number;
  readonly answer: Localized;
}

/** What a visitor is asked, and which answers count. */
export interface Question {
  readonly id: number;
  readonly type: QuestionType;
  readonly required: boolean;
  readonly identifier: string;
  /** In display order. */
  readonly options: readonly Option[];
  /** The question is asked only where the answer to this question is one of `dependencyValues`. */
  readonly dependsOn: number | null;
  readonly dependencyValues: readonly string[];
  /** Inclusive limits. Decimals, days and moments are written as in the resource. */
  readonly numbers: Limits<string>;
  readonly days: Limits<string>;
  readonly moments: Limits<string>;
  /** Inclusive limits of a text, in characters. */
  readonly lengths: Limits<number>;
  /** The resource as JSON. */
  readonly document: string;
}

export interface Limits<T> {
  readonly least: T | null;
  readonly most: T | null;
}

/** The fields of the resource that count at the gate; all are present, since the sender fills in defaults. */
interface Resource extends Pick<Question, "id" | "type" | "required" | "identifier" | "options"> {
  readonly dependency_question: number | null;
  readonly dependency_values: readonly string[];
  readonly valid_number_min: string | null;
  readonly valid_number_max: string | null;
  readonly valid_date_min: string | null;
  readonly valid_date_max: string | null;
  readonly valid_datetime_min: string | null;
  readonly valid_datetime_max: string | null;
  readonly valid_string_length_min: number | null;
  readonly valid_string_length_max: number | null;
}

/** Reads the JSON of a question; throws for a document that is not a question. */
export function readQuestion(document: string): Question {
  const resource = JSON.parse(document) as Resource;
  return {
    id: resource.id,
    type: resource.type,
    required: resource.required,
    identifier: resource.identifier,
    options: [...resource.options].sort((a, b) => a.position - b.position || a.id - b.id),
    dependsOn: resource.dependency_question,
    dependencyValues: resource.dependency_values,
    numbers: { least: resource.valid_number_min, most: resource.valid_number_max },
    days: { least: resource.valid_date_min, most: resource.valid_date_max },
    moments: { least: resource.valid_datetime_min, most: resource.valid_datetime_max },
    lengths: { least: resource.valid_string_length_min, most: resource.valid_string_length_max },
    document,
  };
}
