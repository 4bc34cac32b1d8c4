import { askHttp, readDescription, type Said } from "./ask-tessera.ts";
import { ownUrl } from "./examine-ports.ts";
import { buildVersion } from "./examine-versions.ts";
import { type Finding, skipped, well } from "./finding.ts";
import { placeOf } from "./hide-secrets.ts";
import { judgeSkew, skewByDate } from "./judge-skew.ts";
import type { Surroundings } from "./surroundings.ts";
import { tellFailure } from "./tell-failure.ts";

/** Examines what clients meet at the public address: whether this build answers there, and its clock. */
export async function examineGateway(around: Surroundings, signal: AbortSignal): Promise<Finding[]> {
  const { clock, definitions, environment, isWhole } = around;
  if (around.url === undefined && !definitions.some(({ name }) => name === "gateway"))
    return [skipped("the gateway", "name its address with --url")];
  const given = around.url ?? environment["BASE_URL"] ?? "";
  // `serve all` would answer here, but need not run.
  const isLocal = around.url === undefined && isWhole && placeOf(given) === `localhost:${environment["HTTP_PORT"]}`;
  const url = isLocal ? ownUrl(environment["HTTP_HOST"] || "127.0.0.1", Number(environment["HTTP_PORT"])) : given;
  if (!/^https?:\/\/./.test(url) || !URL.canParse(url))
    return [skipped("the gateway", "BASE_URL is not set to an address; --url names one")];
  let said: Said;
  try {
    const now = () => clock.now() / 1000;
    said = await askHttp(`${url.replace(/\/+$/, "")}/api/v1/openapi.json`, { signal, now });
  } catch (error) {
    if (isLocal) return [skipped("the gateway", `no HTTP server answers at ${placeOf(url)}`)];
    const level = around.url === undefined ? "warning" : "wrong";
    const finding = tellFailure(error, { what: `the gateway at ${placeOf(url)} cannot be reached from here`, level });
    return [finding];
  }
  const baseUrl = environment["BASE_URL"] ?? "";
  return [...judgeAnswer(said, { place: placeOf(url), baseUrl }), ...judgeDate(said)];
}

/** Judges what answered where a gateway should. */
export function judgeAnswer(
  { status, text }: Pick<Said, "status" | "text">,
  at: { place: string; baseUrl: string },
): Finding[] {
  const description = readDescription(text);
  if (description === undefined) {
    const redirected = status >= 300 && status < 400;
    return [
      {
        level: "wrong",
        what: `what answers at ${at.place} is not Tessera (status ${status})`,
        mend: redirected
          ? "set BASE_URL to the address that it redirects to"
          : "look where the ingress sends /api/v1, and whether BASE_URL is right",
      },
    ];
  }
  const { version, server } = description;
  const own = buildVersion();
  const findings = [well(`the gateway at ${at.place} answers, version ${version}`)];
  if (version !== own) {
    const what = `the gateway at ${at.place} runs version ${version}, this is ${own}`;
    findings.push({ level: "warning", what, mend: "run the doctor of the version that runs, or finish the upgrade" });
  }
  if (at.baseUrl !== "" && trimmed(server) !== trimmed(at.baseUrl)) {
    findings.push({
      level: "warning",
      what: `the gateway makes its links with ${placeOf(server)}, and BASE_URL is ${placeOf(at.baseUrl)} here`,
      why: "one of them is not what clients use",
      mend: "start it with the BASE_URL that is right, or give the doctor the settings of the gateway",
    });
  }
  return findings;
}

function trimmed(url: string): string {
  return url.replace(/(?:\/api\/v1)?\/*$/, "");
}

function judgeDate({ date, asked, answered }: Said): Finding[] {
  const skewMs = skewByDate(date, { asked, answered });
  return skewMs === undefined ? [] : judgeSkew("the gateway's machine", skewMs);
}
