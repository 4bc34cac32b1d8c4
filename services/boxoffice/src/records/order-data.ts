import type { SentAnswer, SentOrder, SentPosition } from "@tessera/resources/records/order";
import type { AnswerFileReading } from "./answer-file.ts";

/** An answer of a record, and what it was found to be. */
export type AnswerData = SentAnswer & {
  /** The file is stored beside the order, and `answer` is a reference. */
  readonly isFile?: true | undefined;
  /** What was sent, if it looks like a file or, without a reading, like a reference. */
  readonly sent?: { readonly text: string; readonly reading?: AnswerFileReading };
};

export type PositionData = Omit<SentPosition, "answers"> & { readonly answers: AnswerData[] | null };

export type OrderData = Omit<SentOrder, "positions"> & {
  readonly positions: PositionData[];
  /** The ids of positions that it may have been sent with and that could not be read: the stored ones stay as they are. */
  readonly unread: Pick<ReadonlySet<number>, "has">;
};
