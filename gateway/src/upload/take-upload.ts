import { randomUUID } from "node:crypto";
import type { Fault } from "@tessera/kit/fault";
import type { Files } from "@tessera/kit/files/files";
import { Turns } from "@tessera/kit/waiting/turns";
import { examine } from "@tessera/sent-files/examine";
import type { Examined } from "@tessera/sent-files/examined";
import type { FileType } from "@tessera/sent-files/file-type";
import type { Tenant } from "../access/caller.ts";
import { fault } from "../faults.ts";
import type { ClaimKey, RepeatedReply } from "../http/route.ts";
import { keyOf, type Outstanding, type Upload } from "../store/uploads.ts";
import { ownerOf } from "./find-uploads.ts";
import { receiveBytes, tooLarge } from "./receive-bytes.ts";

/** The dependencies of uploads. */
export interface UploadTargets {
  readonly files: Files;
  /** Records a stored file, so that its sender may name it; returns the id of the first file of its request. */
  record(upload: Upload): Promise<string>;
  /** Microseconds since 1970. */
  now(): number;
  /** The size limit of a file, in bytes. */
  readonly maxBytes: number;
  /** Counts the uploads of a caller, and of its organizer, that no stored answer names. */
  countOutstanding(caller: Tenant): Promise<{ readonly organizer: Outstanding; readonly credential: Outstanding }>;
  /** The limit of these for an organizer; half of it for one credential. */
  readonly mostOutstanding: Outstanding;
}

/** A file being received, after its headers. */
export interface ArrivingFile {
  readonly caller: Tenant;
  readonly type: FileType;
  readonly name: string;
  /** Undefined: the sender announces no size. */
  readonly announcedBytes: number | undefined;
  readonly content: AsyncIterable<Uint8Array>;
  /** Claims the idempotency key, or finds that the file was sent before. */
  readonly claimKey: ClaimKey;
  /** Aborts when the sender disconnects. */
  readonly signal: AbortSignal;
}

export type TakenUpload =
  | { readonly taken: true; readonly id: string }
  | { readonly taken: false; readonly objection: string }
  /** The file was sent before, and this was the answer. */
  | { readonly taken: "before"; readonly reply: RepeatedReply };

const dayMicros = 24 * 60 * 60 * 1_000_000;

/** A file of 10 MiB takes 84 seconds on a line of 1 Mbit/s. Slower senders would block others. */
const arrivalLimits = { idleMs: 20_000, maxMs: 120_000, leastRate: { bytes: 16 * 1024, fromMs: 10_000 } };

/**
 * A file store may buffer unsent data in memory: at most this much may be arriving, half of it for one organizer. A
 * larger size limit of files raises it to two files.
 */
const arrivingBytes = 80 * 1024 * 1024;

/** Files are examined in memory. One organizer never uses both slots. */
const examinedAtOnce = { total: 2, each: 1 };

/** Common clients and proxies time out after 30 seconds without an answer. */
const waitMs = 20_000;

/** Receives files: stores and examines them, and records valid ones. A repetition is compared before. */
export function uploadTaker(targets: UploadTargets) {
  const { files, record, now, maxBytes } = targets;
  const each = Math.max(arrivingBytes / 2, maxBytes);
  const arrivals = new Turns({ total: 2 * each, each, waitMs, busy });
  const examinations = new Turns({ ...examinedAtOnce, waitMs, busy });

  return async function take(file: ArrivingFile): Promise<TakenUpload> {
    const { caller, type, announcedBytes, signal } = file;
    if (announcedBytes === 0) return refused(noFile);
    if (announcedBytes !== undefined && announcedBytes > maxBytes) throw tooLarge(maxBytes);
    await requireRoom(caller, targets);
    const id = randomUUID();
    const key = keyOf(id);
    const party = caller.organizer;

    // File before row: a process killed in between leaves a file without a row, which a job deletes.
    const content = receiveBytes(file.content, { maxBytes, ...arrivalLimits });
    const received = await arrivals.run({ party, amount: announcedBytes ?? maxBytes, signal }, () =>
      files.put(key, content, { contentType: type }),
    );
    const examined = async () => examine({ type, bytes: await readBack(files, key) });
    let requestId: string | undefined;
    let examination: Examined = { ok: false, objection: noFile };
    let stored = received;
    try {
      const claim = await file.claimKey([type, file.name, received.sha256]);
      if (claim.kind === "answered") {
        await discard(files, key);
        return { taken: "before", reply: claim.reply };
      }
      ({ requestId } = claim);
      if (received.size > 0) examination = await examinations.run({ party, amount: 1, signal }, examined);
      if (examination.ok && examination.rewritten !== undefined)
        stored = await files.put(key, examination.rewritten, { contentType: type });
    } catch (error) {
      await discard(files, key);
      throw error;
    }
    if (!examination.ok) {
      await discard(files, key);
      return refused(examination.objection);
    }
    const createdAt = now();
    const first = await record({
      id,
      requestId,
      ...ownerOf(caller),
      fileName: file.name,
      contentType: type,
      ...stored,
      createdAt,
      expiresAt: createdAt + dayMicros,
    });
    if (first !== id) await discard(files, key);
    return { taken: true, id: first };
  };
}

/** Concurrent uploads may exceed the limit by what may be arriving. */
async function requireRoom(caller: Tenant, { countOutstanding, mostOutstanding: most }: UploadTargets): Promise<void> {
  const { organizer, credential } = await countOutstanding(caller);
  const isFull = ({ files, size }: Outstanding, share: number) =>
    files >= most.files * share || size >= most.size * share;
  if (!isFull(organizer, 1) && !isFull(credential, 1 / 2)) return;
  throw fault("too_many_uploads", "Too many files have been sent that no scan has named. They expire after a day.", {
    retryAfterMs: 600_000,
  });
}

function busy(): Fault {
  return fault("uploads_busy", "Too many files are being sent at once. Send this one again soon.", {
    retryAfterMs: 5000,
  });
}

const noFile = "The request holds no file. Send its bytes as the body.";

function refused(objection: string): TakenUpload {
  return { taken: false, objection };
}

async function readBack(files: Files, key: string): Promise<Uint8Array> {
  const found = await files.get(key);
  if (found === undefined) throw new Error("a file that was just stored is not there");
  const bytes = new Uint8Array(found.size);
  let at = 0;
  for await (const chunk of found.content as AsyncIterable<Uint8Array>) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  if (at !== found.size) throw new Error("a file that was just stored is not whole");
  return bytes;
}

/** If this fails, the job that looks for files without a row deletes it. */
async function discard(files: Files, key: string): Promise<void> {
  await files.remove([key]).catch(() => {});
}
