import type { X509Certificate } from "node:crypto";
import { hasName } from "@tessera/engines/grpc/certificates";
import { certificatesIn, readTlsFiles } from "@tessera/engines/tls-files";
import { addressSetting } from "../serve/grpc-addresses.ts";
import { certificateName, certificateNameSetting, findOutsideCalls, tlsFilesOf } from "../serve/secure-calls.ts";
import { describeAge, type Finding, ok, only, warning, wrong } from "./finding.ts";
import type { Surroundings } from "./surroundings.ts";

/** Examines how calls between processes are protected: the certificate, its names, and how long it is valid. */
export function examineCertificates(around: Surroundings): Finding[] {
  const { config, definitions, environment, isWhole, clock } = around;
  const names = definitions.map(({ name }) => name);
  const files = tlsFilesOf(config);
  if (isWhole || files === undefined) {
    const needs = new Set(definitions.flatMap((definition) => definition.needs));
    const peers = [...needs].filter((peer) => !names.includes(peer) && environment[addressSetting(peer)]);
    const outside = isWhole ? [] : findOutsideCalls(config, { names, peers, environment });
    if (outside.length === 0) return [ok("calls between services stay on this machine")];
    return [
      warning`calls leave this machine without TLS: ${outside.join(", ")}
        unless something else checks who calls, everybody who reaches a port of gRPC makes keys and reads tickets
        → set GRPC_TLS_CERT, GRPC_TLS_KEY and GRPC_TLS_CA, and remove GRPC_INSECURE`,
    ];
  }
  const { ca, cert } = readTlsFiles(files);
  if (ca === undefined || cert === undefined) return [];
  const [certificate, ...intermediates] = certificatesIn(cert);
  const problems = only([
    ...names.map((name) => {
      const known = certificateName(name, environment);
      return (
        !hasName(certificate, known) &&
        wrong`the certificate in GRPC_TLS_CERT does not have the DNS name ${known}
          peers know ${name} by it, and refuse this process
          → issue a certificate with it, or set ${certificateNameSetting(name)}`
      );
    }),
    !isIssuedBy(certificate, certificatesIn(ca), intermediates) &&
      wrong`the certificate in GRPC_TLS_CERT is not from an authority in GRPC_TLS_CA
        peers with the same authorities refuse this process
        → add its authority to GRPC_TLS_CA, or intermediate authorities to GRPC_TLS_CERT`,
    ...judgeValidity(certificate, clock.now() / 1000),
  ]);
  return problems.length > 0 ? problems : [ok(`calls use TLS, and the certificate of ${names.join(", ")} is valid`)];
}

/** A certificate that is renewed in time never has less than this share of its life left. */
const leastLeft = 0.2;

/** Judges whether a certificate is valid now, and for how long. */
export function judgeValidity(
  { validFromDate, validToDate }: Pick<X509Certificate, "validFromDate" | "validToDate">,
  nowMs: number,
): Finding[] {
  const left = validToDate.getTime() - nowMs;
  const life = validToDate.getTime() - validFromDate.getTime();
  const mend = "renew it; the files are read again while the process runs";
  if (nowMs < validFromDate.getTime())
    return [
      wrong`the certificate in GRPC_TLS_CERT is not valid yet
        it is valid from ${validFromDate.toISOString()}, and here it is ${new Date(nowMs).toISOString()}
        → set the clock of the machine that is wrong: this one, or that of the authority; else issue it again`,
    ];
  return only([
    left <= 0 &&
      wrong`the certificate in GRPC_TLS_CERT expired ${describeAge(-left / 1000)} ago
        → ${mend}`,
    left > 0 &&
      left < life * leastLeft &&
      warning`the certificate in GRPC_TLS_CERT expires in ${describeAge(left / 1000)}
        then every peer refuses this process
        → ${mend}`,
  ]);
}

function isIssuedBy(
  certificate: X509Certificate,
  authorities: readonly X509Certificate[],
  intermediates: readonly X509Certificate[],
): boolean {
  const isBy = (issuer: X509Certificate) => certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
  if (authorities.some(isBy)) return true;
  const issuer = intermediates.find(isBy);
  const others = intermediates.filter((each) => each !== issuer);
  return issuer !== undefined && isIssuedBy(issuer, authorities, others);
}
