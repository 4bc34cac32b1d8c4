import type { Finding } from "./finding.ts";
import { passwordsIn } from "./hide-secrets.ts";
import { sayCount } from "./say-count.ts";
import type { Surroundings } from "./surroundings.ts";
import { wellKnownSecrets } from "./well-known-secrets.ts";

/** With letters and digits at random, beyond what can be tried. */
const shortestKey = 24;

/** Judges keys and passwords by what they are, never telling any. */
export function judgeSecrets({
  definitions,
  environment,
  isWhole,
}: Pick<Surroundings, "definitions" | "environment" | "isWhole">): Finding[] {
  const hasGateway = definitions.some(({ name }) => name === "gateway");
  return [
    ...(hasGateway ? judgeOperatorKey(environment["OPERATOR_KEY"] ?? "", { isWhole }) : []),
    ...(["DATABASE_URL", "REDIS_URL"] as const).flatMap((name) =>
      judge(`the password in ${name}`, passwordsIn(environment[name] ?? "")),
    ),
    ...(["KAFKA_SASL_PASSWORD", "S3_SECRET_ACCESS_KEY"] as const).flatMap((name) =>
      judge(name, [environment[name] ?? ""]),
    ),
  ];
}

function judgeOperatorKey(key: string, { isWhole }: { isWhole: boolean }): Finding[] {
  const name = isWhole ? "TESSERA_OPERATOR_KEY" : "OPERATOR_KEY";
  const mend = `set ${name} to what \`openssl rand -hex 32\` prints`;
  if (key === "") {
    // One that is made once and kept in the data folder takes its place.
    if (isWhole) return [];
    return [{ level: "warning", what: `${name} is not set`, why: "nobody may bring in records", mend }];
  }
  if (/[^\x21-\x7e]/.test(key))
    return [{ level: "wrong", what: `${name} has a character that no header can carry`, mend }];
  if (wellKnownSecrets.has(key.toLowerCase()))
    return [{ level: "wrong", what: `${name} is one of the first that are guessed`, mend }];
  if (key.length < shortestKey) {
    const what = `${name} has ${sayCount(key.length, "character")}`;
    return [{ level: "warning", what, why: "whoever guesses it may change everything", mend }];
  }
  return [];
}

function judge(name: string, values: readonly string[]): Finding[] {
  if (!values.some((value) => wellKnownSecrets.has(value.toLowerCase()))) return [];
  return [
    {
      level: "warning",
      what: `${name} is one of the first that are guessed`,
      why: "examples, images and installers bring it along",
      mend: "give that server another one, and set it here",
    },
  ];
}
