import { Agent } from "node:https";
import { PassThrough, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import {
  AbortMultipartUploadCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  type MultipartUpload,
  PutObjectCommand,
  paginateListObjectsV2,
  paginateListParts,
  S3Client,
  S3ServiceException,
} from "@aws-sdk/client-s3";
import { Upload } from "@aws-sdk/lib-storage";
import type { Secret } from "@tessera/kit/config/redacted";
import { Fault } from "@tessera/kit/fault";
import { fault } from "@tessera/kit/faults";
import type { Files } from "@tessera/kit/files/files";
import { readTlsFiles } from "../tls-files.ts";
import { type Digest, digestOf } from "./digest.ts";
import { isKey, outside, removedMeanwhile, requireContentType, requireKey, requireRange } from "./file-key.ts";

export interface S3FilesOptions {
  /** It must exist. */
  readonly bucket: string;
  /** Amazon's by default. */
  readonly endpoint?: string;
  /** A PEM file with the authorities of the endpoint, reread for each connection; by default those of Node. */
  readonly authority?: string;
  readonly region?: string;
  /** The prefix of all keys. Deployments in one bucket need different prefixes. At most 200 bytes. */
  readonly prefix?: string;
  /** Whether URLs have the bucket in the path, not in the host name. */
  readonly pathStyle?: boolean;
  /** By default they come from the usual sources: environment, files, roles of the machine or pod. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: Secret<string> };
  /** The limit for one request, and for the server's silence, in milliseconds. */
  readonly timeoutMs?: number;
}

/** A part takes a few seconds on a slow line. */
const defaultTimeoutMs = 20_000;
const connectMs = 3000;

/**
 * Including the first attempt. A lost connection, a short overload or a restart of the server must not fail a long
 * upload: the exponential backoff takes a second and a half in all, on average.
 */
const attempts = 6;

/** With two parts at a time one upload needs less than 32 MB of memory. The limit of 10,000 parts makes 78 GB. */
const partBytes = 8 * 1024 * 1024;
const partsAtOnce = 2;

/** The most keys that one request may delete. */
const removedAtOnce = 1000;

/** S3's limit is 1024 bytes for prefix and key together. */
const longestPrefix = 200;

/** Keeps files in a bucket of S3 or of a compatible server. */
export function s3Files(options: S3FilesOptions): Files {
  const { bucket, prefix = "tessera/", timeoutMs = defaultTimeoutMs } = options;
  if (Buffer.byteLength(prefix) > longestPrefix || prefix.startsWith("/"))
    throw fault(
      "configuration_invalid",
      `the prefix of files has at most ${longestPrefix} bytes and no slash in front`,
    );
  const client = openClient(options, timeoutMs);
  const at = (key: string) => ({ Bucket: bucket, Key: prefix + key });

  async function store(key: string, content: Uint8Array | Readable, contentType: string): Promise<void> {
    const params = { ...at(key), Body: content, ContentType: contentType };
    if (content instanceof Readable)
      await new Upload({ client, params, partSize: partBytes, queueSize: partsAtOnce }).done();
    else await client.send(new PutObjectCommand({ ...params, ContentLength: content.byteLength }));
  }

  /** The incomplete uploads whose keys begin with a prefix. Some servers find them by whole keys only. */
  async function* uploadsOf(keyPrefix: string): AsyncGenerator<MultipartUpload, void> {
    for (let from = {}, isMore = true; isMore; ) {
      const page = await client.send(
        new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix + keyPrefix, ...from }),
      );
      yield* page.Uploads ?? [];
      from = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
      isMore = page.IsTruncated === true;
    }
  }

  /** How much of an upload has arrived, and when the last part did. */
  async function measure({ Key, UploadId, Initiated }: MultipartUpload) {
    let size = 0;
    let storedAt = toInstant(Initiated);
    for await (const page of paginateListParts({ client }, { Bucket: bucket, Key, UploadId })) {
      for (const part of page.Parts ?? []) {
        size += part.Size ?? 0;
        storedAt = Math.max(storedAt, toInstant(part.LastModified));
      }
      // Some servers name a next page behind the last one, too.
      if (page.IsTruncated !== true) break;
    }
    return { size, storedAt };
  }

  const files: Files = {
    async put(key, content, { contentType }) {
      requireKey(key);
      requireContentType(contentType);
      const digest = digestOf(content);
      try {
        await store(key, await toBody(content, digest), contentType);
      } catch (error) {
        throw digest.sourceError === undefined ? toFault(error) : digest.sourceError.error;
      }
      return digest.result();
    },

    async get(key, range) {
      requireKey(key);
      if (range !== undefined) requireRange(range);
      const bytes = range === undefined ? {} : { Range: `bytes=${range.first}-${range.last ?? ""}` };
      try {
        const found = await client.send(new GetObjectCommand({ ...at(key), ...bytes }));
        if (!(found.Body instanceof Readable)) throw new Error("the server sent no content");
        const whole = /\/(\d+)$/.exec(found.ContentRange ?? "")?.[1] ?? found.ContentLength ?? 0;
        return {
          key,
          size: Number(whole),
          storedAt: toInstant(found.LastModified),
          contentType: found.ContentType ?? "application/octet-stream",
          content: withFaults(found.Body),
        };
      } catch (error) {
        if (isMissing(error)) return undefined;
        if (statusOf(error) === 416) throw outside();
        throw toFault(error);
      }
    },

    async read(key) {
      const found = await files.get(key);
      return found === undefined ? undefined : buffer(found.content);
    },

    async remove(keys) {
      for (const key of keys) requireKey(key);
      try {
        for (let done = 0; done < keys.length; done += removedAtOnce) {
          const objects = keys.slice(done, done + removedAtOnce).map((key) => ({ Key: prefix + key }));
          const { Errors: errors = [] } = await client.send(
            new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects: objects, Quiet: true } }),
          );
          const failed = errors.find(({ Code }) => Code !== "NoSuchKey");
          if (failed !== undefined) throw new Error(`${errors.length} files were not removed: ${failed.Code}`);
        }
      } catch (error) {
        throw toFault(error);
      }
    },

    async *list(keyPrefix) {
      if (!isPrefix(keyPrefix)) return;
      try {
        for await (const page of paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: prefix + keyPrefix })) {
          for (const { Key = "", Size = 0, LastModified } of page.Contents ?? []) {
            const key = Key.slice(prefix.length);
            if (isKey(key)) yield { key, size: Size, storedAt: toInstant(LastModified) };
          }
        }
      } catch (error) {
        throw toFault(error);
      }
    },

    async *listUnfinished(keyPrefix) {
      if (!isPrefix(keyPrefix)) return;
      try {
        for await (const upload of uploadsOf(keyPrefix)) {
          const key = (upload.Key ?? "").slice(prefix.length);
          // One that ends meanwhile is in no list any more.
          const measured = await measure(upload).catch(ifGone);
          if (measured !== undefined && isKey(key)) yield { key, ...measured };
        }
      } catch (error) {
        throw toFault(error);
      }
    },

    async removeUnfinished(keys) {
      for (const key of keys) requireKey(key);
      try {
        for (const key of keys) {
          for await (const { Key, UploadId } of uploadsOf(key)) {
            if (Key !== prefix + key) continue;
            await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId })).catch(ifGone);
          }
        }
      } catch (error) {
        throw toFault(error);
      }
    },

    async close() {
      client.destroy();
    },
  };
  return files;
}

function openClient(
  { endpoint, authority, region, pathStyle, credentials }: S3FilesOptions,
  timeoutMs: number,
): S3Client {
  return new S3Client({
    region: region ?? "us-east-1",
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(pathStyle === undefined ? {} : { forcePathStyle: pathStyle }),
    ...(credentials === undefined
      ? {}
      : {
          credentials: {
            accessKeyId: credentials.accessKeyId,
            secretAccessKey: credentials.secretAccessKey.reveal(),
          },
        }),
    maxAttempts: attempts,
    // Other servers than Amazon's refuse the checksums that newer clients add by default.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: {
      ...(authority === undefined ? {} : { httpsAgent: agentFor(authority) }),
      connectionTimeout: connectMs,
      socketTimeout: timeoutMs,
      requestTimeout: timeoutMs,
      throwOnRequestTimeout: true,
    },
  });
}

/** As many connections as the client's own agent has. */
const mostConnections = 50;

/** Rereads the authorities for each connection, so that an exchanged file takes effect. */
function agentFor(authority: string): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: mostConnections });
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, ...rest) => connect({ ...options, ...readTlsFiles({ authority }) }, ...rest);
  return agent;
}

/** Bytes in memory are sent in one request. A stream has an unknown length. */
async function toBody(content: Uint8Array | AsyncIterable<Uint8Array>, digest: Digest): Promise<Uint8Array | Readable> {
  if (!(content instanceof Uint8Array)) return Readable.from(digest.chunks(), { objectMode: true, highWaterMark: 1 });
  for await (const _chunk of digest.chunks());
  return content;
}

/** Content whose errors are faults; destroying it closes the connection. */
function withFaults(body: Readable): Readable {
  const content = new PassThrough();
  // A reader gets the error anyway. Without a reader it must not end the process.
  content.on("error", () => {});
  body.on("error", (error) => content.destroy(asError(toFault(error))));
  // A connection may end too early without an error.
  body.on("close", () => {
    if (!body.readableEnded) content.destroy(asError(toFault(new Error("the connection ended within the content"))));
  });
  content.on("close", () => body.destroy());
  return body.pipe(content);
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

function toInstant(time: Date | undefined): number {
  return (time?.getTime() ?? 0) * 1000;
}

function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}

/** Whether keys may begin with it, and a request may name it. */
function isPrefix(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

function isGone(error: unknown): boolean {
  return error instanceof S3ServiceException && error.name === "NoSuchUpload";
}

function ifGone(error: unknown): undefined {
  if (!isGone(error)) throw error;
}

/** A missing bucket does not count as a missing file. */
function isMissing(error: unknown): boolean {
  return error instanceof S3ServiceException && (error.name === "NoSuchKey" || error.name === "NotFound");
}

function toFault(error: unknown): unknown {
  if (error instanceof Fault || error instanceof TypeError || error instanceof ReferenceError) return error;
  if (isGone(error)) return removedMeanwhile(error);
  const refusal = error instanceof S3ServiceException && error.$fault === "client" ? ` (${error.name})` : "";
  const message =
    refusal === ""
      ? "the file store cannot be reached"
      : `the file store refuses the request${refusal}; check its address, bucket and credentials`;
  return fault("files_unavailable", message, { retryAfterMs: 5000, cause: error });
}
