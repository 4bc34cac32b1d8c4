import type { SentAnswer, SentOrder, SentPosition } from "@tessera/resources/records/order";
import type { AnswerFileReading } from "./answer-file.ts";

export type AnswerData = SentAnswer & {
  /** The file is stored beside the order, and `answer` is a reference. */
  readonly isFile?: true | undefined;
  /** The sent text, if it looks like a file or, without a reading, like a reference. */
  readonly sent?: { readonly text: string; readonly reading?: AnswerFileReading };
};

export type PositionData = Omit<SentPosition, "answers"> & { readonly answers: AnswerData[] | null };

export type OrderData = Omit<SentOrder, "positions"> & {
  readonly positions: PositionData[];
  /** The ids of sent positions that could not be read: the stored ones stay unchanged. */
  readonly unread: Pick<ReadonlySet<number>, "has">;
  /** Scans, encoded, of sent positions that belong to other orders, by id. */
  readonly scansOfOthers?: ReadonlyMap<number, Uint8Array>;
};
