import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { Fault } from "@tessera/kit/fault";
import { fault } from "../faults.ts";
import { httpStatus, toProblem } from "./problem.ts";

/** Explains a request that Node's parser refused, by its error. */
export function explainUnread({ code }: NodeJS.ErrnoException): Fault {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return fault("head_too_large", "The address and the headers are too long together.");
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return fault("body_too_large", "The body has too many chunk extensions.");
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return fault("body_too_slow", "The request did not arrive in time.");
    default:
      return fault("malformed_request", "This is no valid HTTP request.");
  }
}

/** Answers a malformed request, and ends its connection. */
export function answerUnread(socket: Duplex, problem: Fault): void {
  const { body, ...answer } = toProblem(problem);
  const status = httpStatus[answer.status];
  const json = JSON.stringify(body);
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(json)}`,
    "X-Content-Type-Options: nosniff",
    "Cache-Control: private, no-store",
    "Connection: close",
  ];
  socket.end([...lines, "", json].join("\r\n"), () => socket.destroy());
}
