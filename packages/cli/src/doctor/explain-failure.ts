import { Fault } from "@tessera/kit/fault";
import { type Finding, wrong } from "./finding.ts";

const noRoute = ["there is no route to it", "look at the network between here and there"] as const;
const unknownAuthority = [
  "the authority of its certificate is unknown here",
  "name that authority with NODE_EXTRA_CA_CERTS",
] as const;

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
  "53300": ["all connections are in use", "raise max_connections, or find out what holds them"],
  "57P03": ["the server starts or stops", "wait a moment; its log says more"],
  DEPTH_ZERO_SELF_SIGNED_CERT: ["its certificate is self-signed", unknownAuthority[1]],
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  CERT_HAS_EXPIRED: ["its certificate has expired", "renew it, and look at the clock of this machine"],
  ERR_TLS_CERT_ALTNAME_INVALID: ["its certificate is for another name", "use the name that the certificate is for"],
};

const longestMessage = 200;

/** Turns an error into a finding; `mend` replaces the usual advice for its code. */
export function explainFailure(
  error: unknown,
  { what, level = "wrong", mend }: { what: string; level?: Finding["level"]; mend?: string },
): Finding {
  const file = missingFileOf(error);
  if (file !== undefined)
    return { level, what, why: `there is no file ${file}`, mend: mend ?? "correct its path, or put it there" };
  const code = codeOf(error);
  const [why, usual] = (code === undefined ? undefined : known[code]) ?? [messageOf(error)];
  return { level, what, why: code === undefined ? why : `${why} (${code})`, mend: mend ?? usual };
}

/** Turns a refusal into findings: one for each line; what follows the last semicolon is the remedy. */
export function explainRefusal({ message }: Fault): Finding[] {
  const lines = message.split("\n").map((line) => line.trim());
  return lines
    .filter((line) => line !== "" && line !== "configuration:")
    .map((line) => {
      const at = line.lastIndexOf("; ");
      return at < 0 ? wrong(line, {}) : wrong(line.slice(0, at), { mend: line.slice(at + 2) });
    });
}

/** The code that the system or a server gave the failure, wherever it is in the chain of causes. */
function codeOf(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 10; depth += 1) {
    if (!(at instanceof Fault) && "code" in at && typeof at.code === "string") return at.code;
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
  // The outer error reports that something failed; its cause reports what.
  if (error instanceof Error && error.cause instanceof Error) return messageOf(error.cause);
  const text = error instanceof Error ? error.message || error.name : String(error);
  const [first = ""] = text.split("\n");
  return first.length > longestMessage ? `${first.slice(0, longestMessage)}…` : first;
}
