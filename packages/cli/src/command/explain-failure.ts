import { Fault } from "@tessera/kit/fault";
import type { Finding } from "@tessera/kit/service/finding";

const noRoute = ["there is no route to it", "look at the network between here and there"] as const;
const unknownAuthority = [
  "the authority of its certificate is unknown here",
  "name that authority: in KAFKA_TLS_CA, REDIS_TLS_CA, S3_TLS_CA or sslrootcert of DATABASE_URL, else in NODE_EXTRA_CA_CERTS",
] as const;

/** Codes that the advice for certificates applies to, whatever reports them. */
const ofCertificates: ReadonlySet<string> = new Set([
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "ERR_TLS_CERT_ALTNAME_INVALID",
]);

/** Codes of common failures, with the reason and what to do. */
const known: Readonly<Record<string, readonly [why: string, mend: string]>> = {
  ECONNREFUSED: ["nothing listens there", "start it, or correct the address"],
  ENOTFOUND: ["no such host is known", "correct the host name, or the name service of this machine"],
  EAI_AGAIN: ["the name service does not answer", "look at the name service of this machine"],
  ETIMEDOUT: ["no answer comes back from there", "look at firewalls and network policies between here and there"],
  EHOSTUNREACH: noRoute,
  ENETUNREACH: noRoute,
  ENOENT: ["there is no such socket", "start the server, or correct the address"],
  EACCES: ["this user lacks the right", "run it as another user, or give this user the right"],
  ECONNRESET: ["the server closed the connection", "look at its log, and whether it requires TLS"],
  "28P01": ["the password is refused", "correct the password in DATABASE_URL"],
  "28000": ["the server refuses this user from here", "look at pg_hba.conf and the user in DATABASE_URL"],
  "3D000": ["there is no such database", "create it, or correct its name in DATABASE_URL"],
  "42501": ["the user lacks a right", "run `tessera migrate all` with an administrator's DATABASE_URL"],
  "22023": ["a role of the platform is missing", "run `tessera migrate all` with an administrator's DATABASE_URL"],
  "53300": ["all connections are in use", "raise max_connections, or find out what holds them"],
  "53100": ["there is no room left on its disk", "make room on the disk of that server; it goes on by itself"],
  "57P03": ["the server starts or stops", "wait a moment; its log says more"],
  DEPTH_ZERO_SELF_SIGNED_CERT: ["its certificate is self-signed", unknownAuthority[1]],
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  // The other authority has the same name.
  CERT_SIGNATURE_FAILURE: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  CERT_HAS_EXPIRED: ["its certificate has expired", "renew it, and look at the clock of this machine"],
  CERT_NOT_YET_VALID: [
    "its certificate is not valid yet by the clock of this machine",
    "set this clock by NTP (chronyc tracking, timedatectl); if it is right, issue the certificate again",
  ],
  ERR_TLS_CERT_ALTNAME_INVALID: ["its certificate is for another name", "use the name that the certificate is for"],
};

/** Failures of files and folders, by the code of the system. */
const ofFiles: Readonly<Record<string, readonly [why: string, mend: string]>> = {
  ENOENT: ["there is no such file or folder", "correct its path, or put it there"],
  EISDIR: ["it is a folder", "name a file"],
  ENOTDIR: ["a part of its path is no folder", "correct its path"],
  EACCES: ["this user lacks the right", "run it as another user, or give this user the right"],
  EPERM: ["this user lacks the right", "run it as another user, or give this user the right"],
  EROFS: ["its file system is read-only", "choose another place"],
  ENOSPC: ["the disk is full", "make room on it"],
  EMFILE: ["too many files are open", "raise the limit that `ulimit -n` shows"],
};

/** System calls about connections, whose failures are not those of files. */
const ofConnections = /^(?:connect|bind|listen|getaddrinfo|spawn)\b/;

const namesObjects: ReadonlySet<string> = new Set(["42501", "22023"]);

const longestMessage = 200;

/** The failure with a code of the system or of a server, and what the code means. */
function reasonOf(error: unknown) {
  const failure = findCoded(error);
  if (failure === undefined) return undefined;
  const { code } = failure;
  const isOfFile = failure.syscall !== undefined && code in ofFiles && !ofConnections.test(failure.syscall);
  const [why, mend] = (isOfFile ? ofFiles : known)[code] ?? alertOf(code) ?? [];
  return { failure, code, isOfFile, why, mend };
}

/**
 * Turns an error into a finding. `mend` replaces the usual advice for its code, unless the code alone says what to do;
 * `trust` is the setting that names authorities.
 */
export function explainFailure(
  error: unknown,
  { what, level = "wrong", mend, trust }: { what: string; level?: Finding["level"]; mend?: string; trust?: string },
): Finding {
  const file = missingFileOf(error);
  if (file !== undefined)
    return { level, what, why: `there is no file ${file}`, mend: mend ?? "correct its path, or put it there" };
  const reason = reasonOf(error);
  if (reason === undefined) return { level, what, why: messageOf(error), mend };
  const { code, why = messageOf(error), mend: usual } = reason;
  const isDecisive = ofCertificates.has(code) || code === "ENOSPC" || code === "53100" || alertOf(code) !== undefined;
  const advice = isDecisive ? (usual ?? mend) : (mend ?? usual);
  const isUntrusted = trust !== undefined && usual === unknownAuthority[1];
  return {
    ...{ level, what, why: `${why} (${code})` },
    mend: isUntrusted ? `set ${trust} to a file with that authority` : advice,
  };
}

/** Describes a failure in one sentence, with cause and remedy. Undefined: it is a bug, which needs its stack. */
export function describeFailure(error: unknown): string | undefined {
  const reason = reasonOf(error instanceof Fault ? error.cause : error);
  const isKnown = reason?.why !== undefined && reason.mend !== undefined;
  if (!isKnown) return error instanceof Fault ? error.message : undefined;
  const { failure, code, why, mend } = reason;
  const place = reason.isOfFile ? (failure.path ?? "a file") : placeOf(failure);
  const message = error instanceof Fault ? error.message : `${place} cannot be used`;
  // What follows the first semicolon is the remedy.
  const [, what = message, remedy = mend] = /^(.*?); (.*)$/s.exec(message) ?? [];
  // Messages about a missing right name objects of the schema, but no stored data.
  const shown = namesObjects.has(code) ? `${code}: ${failure.message.split("\n")[0]}` : code;
  return `${what}: ${why} (${shown}); ${remedy}`;
}

function placeOf({ address, port, code }: Coded): string {
  if (address !== undefined) return port === undefined ? address : `${address}:${port}`;
  // An SQLSTATE begins with a digit.
  return /^\d/.test(code) ? "the database" : "a server";
}

/** Turns a refusal into findings: one for each line; what follows the last semicolon is the remedy. */
export function explainRefusal({ message }: Fault): Finding[] {
  const lines = message.split("\n").map((line) => line.trim());
  return lines
    .filter((line) => line !== "" && line !== "configuration:")
    .map((line) => {
      const at = line.lastIndexOf("; ");
      return { level: "wrong", ...(at < 0 ? { what: line } : { what: line.slice(0, at), mend: line.slice(at + 2) }) };
    });
}

/** The peer ended a handshake because of our certificate, or because we showed none. */
function alertOf(code: string): readonly [why: string, mend: string] | undefined {
  if (!/_ALERT_(?:BAD_CERTIFICATE|CERTIFICATE_|UNKNOWN_CA)/.test(code)) return undefined;
  return [
    "it refuses the certificate of this process",
    "set a certificate that is valid and whose authority is known there",
  ];
}

/** An error of the system or of a server. */
type Coded = Error & {
  readonly code: string;
  readonly syscall?: string;
  readonly path?: string;
  readonly address?: string;
  readonly port?: number;
};

/** Finds the failure with a code, wherever it is in the chain of causes. */
function findCoded(error: unknown): Coded | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 10; depth += 1) {
    if (!(at instanceof Fault) && "code" in at && typeof at.code === "string") return at as Coded;
    // All addresses of a name were tried, and each has an error of its own.
    at = at instanceof AggregateError && at.cause === undefined ? at.errors[0] : at.cause;
  }
  return undefined;
}

function missingFileOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, syscall, path } = error as NodeJS.ErrnoException;
  return code === "ENOENT" && syscall === "open" ? path : missingFileOf(error.cause);
}

function messageOf(error: unknown): string {
  // The outer error says that something failed; its cause says what.
  if (error instanceof Error && error.cause instanceof Error) return messageOf(error.cause);
  const text = error instanceof Error ? error.message || error.name : String(error);
  const [first = ""] = text.split("\n");
  return first.length > longestMessage ? `${first.slice(0, longestMessage)}…` : first;
}
