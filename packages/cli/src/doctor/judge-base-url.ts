import { type Finding, only, warning, wrong } from "./finding.ts";
import type { Surroundings } from "./surroundings.ts";

/** Judges the public address, from which every link in an answer is made. */
export function judgeBaseUrl({
  definitions,
  environment,
}: Pick<Surroundings, "definitions" | "environment">): Finding[] {
  if (!definitions.some(({ name }) => name === "gateway")) return [];
  const given = environment["BASE_URL"] ?? "";
  const isOpen = !isOwnHost(environment["HTTP_HOST"] || "127.0.0.1");
  if (given === "") return only([isOpen && misleading("BASE_URL is not set")]);
  // The examination of the settings reports what cannot be read.
  if (!URL.canParse(given)) return [];
  const { protocol, hostname, pathname, search, hash, username, password } = new URL(given);
  return only([
    protocol !== "http:" &&
      protocol !== "https:" &&
      wrong("BASE_URL is neither http nor https", {
        mend: "set it to what clients use, for instance https://tickets.example",
      }),
    `${username}${password}${search}${hash}` !== "" &&
      wrong("BASE_URL has more than a scheme, a host and a port", {
        why: "links are made by writing a path behind it, and all clients see them",
        mend: "take user, password, ? and # out of it",
      }),
    pathname !== "/" &&
      warning(`BASE_URL has the path ${pathname}`, {
        why: "every link begins with it, while this server answers at /api/v1 without it",
        mend: "let the ingress take the path off, or leave it out of BASE_URL",
      }),
    protocol === "http:" &&
      !isOwnHost(hostname) &&
      warning("BASE_URL is http for a host that is not this one", {
        why: "links lead clients to send their keys in plain text",
        mend: "set it to the https address of the ingress",
      }),
    isOpen && isOwnHost(hostname) && misleading("BASE_URL is this machine's own name for itself"),
  ]);
}

function misleading(what: string): Finding {
  return warning(what, {
    why: "HTTP_HOST lets other machines in, and links in their answers would lead them to themselves",
    mend: "set BASE_URL to the address that clients use",
  });
}

function isOwnHost(host: string): boolean {
  return /^(?:localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/i.test(host);
}
