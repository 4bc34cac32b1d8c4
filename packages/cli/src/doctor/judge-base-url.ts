import type { Finding } from "./finding.ts";
import type { Surroundings } from "./surroundings.ts";

/** Judges the public address, from which every link in an answer is made. */
export function judgeBaseUrl({
  definitions,
  environment,
}: Pick<Surroundings, "definitions" | "environment">): Finding[] {
  if (!definitions.some(({ name }) => name === "gateway")) return [];
  const given = environment["BASE_URL"] ?? "";
  const isOpen = !isOwnHost(environment["HTTP_HOST"] || "127.0.0.1");
  if (given === "" || !URL.canParse(given)) {
    // What cannot be read is told with the settings.
    return given === "" && isOpen ? [linksLeadNowhere("BASE_URL is not set")] : [];
  }
  const { protocol, hostname, pathname, search, hash, username, password } = new URL(given);
  const findings: Finding[] = [];
  if (protocol !== "http:" && protocol !== "https:") {
    findings.push({
      level: "wrong",
      what: "BASE_URL is neither http nor https",
      mend: "set it to what clients use, for instance https://tickets.example",
    });
  }
  if (username !== "" || password !== "" || search !== "" || hash !== "") {
    findings.push({
      level: "wrong",
      what: "BASE_URL has more than a scheme, a host and a port",
      why: "links are made by writing a path behind it, and are seen by everybody",
      mend: "take user, password, ? and # out of it",
    });
  }
  if (pathname !== "/") {
    findings.push({
      level: "warning",
      what: `BASE_URL has the path ${pathname}`,
      why: "every link begins with it, while this server answers at /api/v1 without it",
      mend: "let the ingress take the path off, or leave it out of BASE_URL",
    });
  }
  if (protocol === "http:" && !isOwnHost(hostname)) {
    findings.push({
      level: "warning",
      what: "BASE_URL is http for a host that is not this one",
      why: "links lead clients to send their keys in plain text",
      mend: "set it to the https address of the ingress",
    });
  }
  if (isOpen && isOwnHost(hostname)) findings.push(linksLeadNowhere("BASE_URL is this machine's own name for itself"));
  return findings;
}

function linksLeadNowhere(what: string): Finding {
  return {
    level: "warning",
    what,
    why: "HTTP_HOST lets other machines in, and links in their answers would lead them to themselves",
    mend: "set BASE_URL to the address that clients use",
  };
}

function isOwnHost(host: string): boolean {
  return /^(?:localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/i.test(host);
}
