import { Fault } from "@tessera/kit/fault";
import { type Finding, wrong } from "./finding.ts";

const noRoute = ["there is no route to it", "look at the network between here and there"] as const;
const unknownAuthority = ["its authority is not known here", "name its authority with NODE_EXTRA_CA_CERTS"] as const;

/** The codes that systems and servers give usual failures, with the reason and what to do. */
const known: Readonly<Record<string, readonly [why: string, mend: string]>> = {
  ECONNREFUSED: ["nothing listens there", "start it, or correct the address"],
  ENOTFOUND: ["no such host is known", "correct the host name, or the name service of this machine"],
  EAI_AGAIN: ["the name service does not answer", "look at the name service of this machine"],
  ETIMEDOUT: ["nothing comes back from there", "look at firewalls and network policies between here and there"],
  EHOSTUNREACH: noRoute,
  ENETUNREACH: noRoute,
  ENOENT: ["the socket is not there", "start the server, or correct the address"],
  EACCES: ["this user may not", "run it as a user who may, or give the right to this one"],
  ECONNRESET: ["the connection was cut", "look at that server's log, and whether it wants TLS"],
  "28P01": ["the password is refused", "correct the password in DATABASE_URL"],
  "28000": ["the server refuses this user from here", "look at pg_hba.conf and the user in DATABASE_URL"],
  "3D000": ["there is no such database", "create it, or correct its name in DATABASE_URL"],
  "42501": ["the user lacks a right", "run `tessera migrate all` with an administrator's DATABASE_URL"],
  "53300": ["all connections are taken", "raise max_connections, or find out what holds them"],
  "57P03": ["the server starts or stops", "wait a moment; its log says more"],
  DEPTH_ZERO_SELF_SIGNED_CERT: ["its certificate is self-signed", unknownAuthority[1]],
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  CERT_HAS_EXPIRED: ["its certificate has expired", "renew it, and look at the clock of this machine"],
  ERR_TLS_CERT_ALTNAME_INVALID: ["its certificate is for another name", "use the name that the certificate is for"],
};

const longestMessage = 200;

/** Turns what was thrown into a finding; `mend` replaces the usual advice for its code. */
export function explainFailure(
  error: unknown,
  { what, level = "wrong", mend }: { what: string; level?: Finding["level"]; mend?: string },
): Finding {
  const code = codeOf(error);
  const [why, usual] = (code === undefined ? undefined : known[code]) ?? [messageOf(error)];
  return { level, what, why: code === undefined ? why : `${why} (${code})`, mend: mend ?? usual };
}

/** Makes findings of a refusal: one for each line, its remedy apart. */
export function explainRefusal({ message }: Fault): Finding[] {
  const lines = message.split("\n").map((line) => line.trim());
  return lines
    .filter((line) => line !== "" && line !== "configuration:")
    .map((line) => {
      const at = line.lastIndexOf("; ");
      return at < 0 ? wrong(line, {}) : wrong(line.slice(0, at), { mend: line.slice(at + 2) });
    });
}

/** The code that the system or a server gave the failure, below all wrappings. */
function codeOf(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 10; depth += 1) {
    if (!(at instanceof Fault) && "code" in at && typeof at.code === "string") return at.code;
    // All addresses of a name were tried, and each failed in its own way.
    at = at instanceof AggregateError && at.cause === undefined ? at.errors[0] : at.cause;
  }
  return undefined;
}

function messageOf(error: unknown): string {
  // The outer error says that something failed; its cause says what.
  if (error instanceof Error && error.cause instanceof Error) return messageOf(error.cause);
  const text = error instanceof Error ? error.message || error.name : String(error);
  const [first = ""] = text.split("\n");
  return first.length > longestMessage ? `${first.slice(0, longestMessage)}…` : first;
}
