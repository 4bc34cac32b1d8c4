import type { Example } from "../../http/route.ts";

const sent = {
  error_reason: "unpaid",
  raw_barcode: "skf5nd68tj9svceenh72c7xt5nyzery4",
  nonce: "mC4dRzvW1ENyqVXjt3Yt0hFsV2kZbQ9a",
  datetime: "2027-05-12T06:30:00Z",
};

export const failedCheckinExample = {
  status: "created",
  body: sent,
  answer: {
    ...sent,
    error_explanation: null,
    raw_source_type: "barcode",
    raw_item: null,
    raw_variation: null,
    raw_subevent: null,
    type: "entry",
    position: 2,
  },
} satisfies Example;
