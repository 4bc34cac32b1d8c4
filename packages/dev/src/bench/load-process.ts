import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { quantile } from "@tessera/cli/simulate/quantile";
import { filledSecret, wasScanned } from "./large-event.ts";

/** A load of scans: each of another ticket, at times that do not depend on answers. */
export interface Load {
  readonly host: string;
  readonly port: number;
  readonly apiKey: string;
  /** The path of the list's positions. */
  readonly path: string;
  /** How many connections stay open. */
  readonly connections: number;
  readonly perSecond: number;
  readonly seconds: number;
  /** Numbers of tickets, from the first one on, of which every one is scanned that is not left out. */
  readonly firstTicket: number;
}

/** How it went. Times are milliseconds from the time at which a scan was due. */
export interface LoadResult {
  readonly sent: number;
  /** The tickets of scans that were answered 201 with the whole position. */
  readonly tickets: readonly number[];
  /** Answers of other kinds, with how many of each. */
  readonly others: Readonly<Record<string, number>>;
  readonly p50: number;
  readonly p99: number;
  /** Of the scans that were refused for now (429). */
  readonly p99Refused: number;
  /** Of the others. */
  readonly p99Admitted: number;
  /** How many were answered while the load lasted. */
  readonly answeredInTime: number;
  /** The first ticket that was not scanned. */
  readonly nextTicket: number;
}

/** Answers that take longer are lost. */
const patienceMs = 10_000;

/**
 * Sends scans over keep-alive connections, which are written and read as bytes: a client of HTTP would take the time that
 * is measured. A scan that finds no idle connection waits for one, and its time counts.
 */
async function runLoad(load: Load, isOver: () => boolean): Promise<LoadResult> {
  const { perSecond, seconds } = load;
  const idle: Connection[] = [];
  const waiting: Scan[] = [];
  const took = { admitted: [] as number[], refused: [] as number[] };
  const others: Record<string, number> = {};
  const tickets: number[] = [];
  let [sent, answered, answeredInTime, ticket] = [0, 0, 0, load.firstTicket];

  const begin = (scan: Scan) => {
    const connection = idle.shift();
    if (connection === undefined) waiting.push(scan);
    else connection.send(scan);
  };
  const began = performance.now();
  const end = began + seconds * 1000;
  const note = (scan: Scan, answer: string, connection: Connection) => {
    const now = performance.now();
    answered += 1;
    if (now <= end) answeredInTime += 1;
    took[answer === "429" ? "refused" : "admitted"].push(now - scan.due);
    if (answer === "admitted") tickets.push(scan.ticket);
    else others[answer] = (others[answer] ?? 0) + 1;
    const next = waiting.shift();
    if (next === undefined) idle.push(connection);
    else connection.send(next);
  };
  const connections = await Promise.all(Array.from({ length: load.connections }, () => openConnection(load, note)));
  idle.push(...connections);
  for (let due = performance.now(); due < end && !isOver(); ) {
    const now = performance.now();
    while (due <= now && due < end) {
      while (wasScanned(ticket)) ticket += 1;
      begin({ ticket, due });
      ticket += 1;
      sent += 1;
      // Arrivals do not know of each other: the pauses between them are exponential.
      due += (-Math.log(1 - Math.random()) * 1000) / perSecond;
    }
    await sleep(1);
  }
  for (const until = Date.now() + patienceMs; answered < sent && Date.now() < until; ) await sleep(20);
  if (answered < sent) others["unanswered"] = sent - answered;
  for (const connection of connections) connection.close();
  const all = [...took.admitted, ...took.refused];
  return {
    ...{ sent, tickets, others, answeredInTime, nextTicket: ticket },
    ...{ p50: quantile(all, 0.5), p99: quantile(all, 0.99) },
    ...{ p99Admitted: quantile(took.admitted, 0.99), p99Refused: quantile(took.refused, 0.99) },
  };
}

interface Scan {
  readonly ticket: number;
  readonly due: number;
}

interface Connection {
  send(scan: Scan): void;
  close(): void;
}

async function openConnection(
  { host, port, apiKey, path }: Load,
  note: (scan: Scan, answer: string, connection: Connection) => void,
): Promise<Connection> {
  const socket = connect({ host, port, noDelay: true });
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  let current: Scan | undefined;
  let read = "";
  const connection: Connection = {
    send(scan) {
      current = scan;
      socket.write(requestFor({ host, apiKey, path }, scan.ticket));
    },
    close: () => socket.destroy(),
  };
  const answered = (answer: string) => {
    const scan = current;
    current = undefined;
    read = "";
    if (scan !== undefined) note(scan, answer, connection);
  };
  socket.setEncoding("latin1");
  socket.on("data", (bytes: string) => {
    read += bytes;
    const head = read.indexOf("\r\n\r\n");
    if (head < 0) return;
    const length = Number(/^content-length: (\d+)/im.exec(read.slice(0, head))?.[1]);
    if (read.length < head + 4 + length) return;
    answered(judge(read.slice(9, 12), read.slice(head + 4)));
  });
  socket.on("error", () => answered("broken"));
  return connection;
}

function judge(status: string, body: string): string {
  const isWhole = body.includes('"status":"ok"') && body.includes('"attendee_name":') && body.includes('"checkins":[{');
  return status === "201" && isWhole ? "admitted" : status;
}

function requestFor({ host, apiKey, path }: Pick<Load, "host" | "apiKey" | "path">, ticket: number): string {
  const body = `{"nonce":"bench-${ticket}","force":false,"ignore_unpaid":false,"questions_supported":true,"canceled_supported":true,"type":"entry"}`;
  return [
    `POST ${path}${filledSecret(ticket)}/redeem/ HTTP/1.1`,
    `Host: ${host}`,
    `Authorization: Token ${apiKey}`,
    "Content-Type: application/json",
    "Accept: application/json",
    `Content-Length: ${body.length}`,
    "",
    body,
  ].join("\r\n");
}

if (process.send !== undefined) {
  let isEnded = false;
  process.on("message", (message: Load | "end") => {
    isEnded = message === "end";
    if (message === "end") return;
    runLoad(message, () => isEnded).then(
      (result) => process.send?.(result),
      (error: unknown) => {
        process.stderr.write(`${String(error)}\n`);
        process.exit(1);
      },
    );
  });
}
