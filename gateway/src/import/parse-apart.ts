import { answerRequests } from "@tessera/kit/threads/answer-requests";
import { type ParsedRecord, parseRecord } from "./parse-record.ts";

export interface LongLine {
  readonly number: number;
  readonly bytes: Uint8Array;
}

answerRequests<LongLine, ParsedRecord>({
  answer: ({ number, bytes }) => parseRecord(number, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
});
