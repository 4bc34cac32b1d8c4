import { answerRequests } from "@tessera/kit/threads/answer-requests";
import { limitUnpacking } from "@tessera/sent-files/limit-unpacking";
import { flattenBackground, type PlainBackground } from "./prepare-background.ts";

/** Large drawings have some megabytes. */
const mostUnpacked = 64 * 1024 * 1024;

answerRequests<Uint8Array, PlainBackground>({
  answer(bytes) {
    limitUnpacking(mostUnpacked);
    return flattenBackground(bytes);
  },
});
