import type { Readable, Writable } from "node:stream";

/** DevTools messages over two pipes; a zero byte ends each message. */
export interface PipeTransport {
  send(message: string): void;
  close(): void;
  onmessage?: (message: string) => void;
  onclose?: () => void;
}

/** Uses pipes, not a port: no other program can connect, and the browser ends when its pipe closes. */
export function openPipe(into: Writable, from: Readable): PipeTransport {
  let parts: Buffer[] = [];
  let isClosed = false;
  const transport: PipeTransport = {
    send(message) {
      if (!isClosed) into.write(`${message}\0`);
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      into.destroy();
      from.destroy();
      transport.onclose?.();
    },
  };
  from.on("data", (chunk: Buffer) => {
    let begin = 0;
    for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0, begin)) {
      parts.push(chunk.subarray(begin, end));
      const message = Buffer.concat(parts).toString("utf8");
      parts = [];
      begin = end + 1;
      transport.onmessage?.(message);
    }
    if (begin < chunk.length) parts.push(chunk.subarray(begin));
  });
  // An error means that the browser has ended; the end of the pipe follows.
  into.on("error", () => transport.close());
  from.on("error", () => transport.close());
  from.on("close", () => transport.close());
  return transport;
}
