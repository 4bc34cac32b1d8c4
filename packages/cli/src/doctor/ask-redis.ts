import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

/** A server that answers, but not with what was asked for: `NOAUTH Authentication required.` */
export class RedisRefusal extends Error {
  override readonly name = "RedisRefusal";
}

/**
 * Sends commands over a connection of its own and returns one text for each. The cache's way to Redis hides what is
 * asked here, whether a server is away or refuses, because no answer may depend on it.
 */
export async function askRedis(
  url: string,
  commands: readonly (readonly string[])[],
  { signal }: { signal: AbortSignal },
): Promise<string[]> {
  const { protocol, hostname, port, username, password } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const place = { host, port: Number(port || "6379") };
  const socket = protocol === "rediss:" ? connectTls({ ...place, servername: host }) : connect(place);
  const stop = () => socket.destroy(new Error("Redis did not answer in time"));
  signal.addEventListener("abort", stop);
  const user = username === "" ? [] : [decodeURIComponent(username)];
  const greeting = password === "" ? [] : [["AUTH", ...user, decodeURIComponent(password)]];
  try {
    const answers = await converse(socket, [...greeting, ...commands]);
    return answers.slice(greeting.length);
  } finally {
    signal.removeEventListener("abort", stop);
    socket.destroy();
  }
}

async function converse(socket: Socket, commands: readonly (readonly string[])[]): Promise<string[]> {
  socket.write(commands.map(toWire).join(""));
  const answers: string[] = [];
  let received = Buffer.alloc(0);
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    received = Buffer.concat([received, chunk]);
    for (let answer = readAnswer(received); answer !== undefined; answer = readAnswer(received)) {
      received = received.subarray(answer.length);
      answers.push(answer.text);
      if (answers.length === commands.length) return answers;
    }
  }
  throw new Error("the connection ended before everything was answered");
}

function toWire(words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`;
}

/** Reads the first answer: a line, or a text with its length before it. Undefined: there is more to come. */
function readAnswer(received: Buffer): { readonly text: string; readonly length: number } | undefined {
  const end = received.indexOf("\r\n");
  if (end < 0) return undefined;
  const line = received.toString("utf8", 0, end);
  if (line.startsWith("-")) throw new RedisRefusal(line.slice(1));
  if (line.startsWith("+")) return { text: line.slice(1), length: end + 2 };
  const bytes = /^\$(\d{1,7})$/.exec(line)?.[1];
  if (bytes === undefined) throw new Error("what answers there is not Redis");
  const length = end + 2 + Number(bytes) + 2;
  return received.length < length ? undefined : { text: received.toString("utf8", end + 2, length - 2), length };
}
