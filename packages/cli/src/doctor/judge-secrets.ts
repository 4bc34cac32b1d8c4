import { describeCount } from "./describe-amount.ts";
import { type Finding, only, warning, wrong } from "./finding.ts";
import { passwordsIn, wellKnownSecrets } from "./hide-secrets.ts";
import type { Surroundings } from "./surroundings.ts";

/** With letters and digits at random, more than can be tried. */
const shortestKey = 24;

/** Judges keys and passwords, and prints none. */
export function judgeSecrets({
  definitions,
  environment,
  isWhole,
}: Pick<Surroundings, "definitions" | "environment" | "isWhole">): Finding[] {
  const hasGateway = definitions.some(({ name }) => name === "gateway");
  const read = (name: string) => environment[name] ?? "";
  const passwords: readonly (readonly [name: string, values: readonly string[]])[] = [
    ["the password in DATABASE_URL", passwordsIn(read("DATABASE_URL"))],
    ["the password in REDIS_URL", passwordsIn(read("REDIS_URL"))],
    ["KAFKA_SASL_PASSWORD", [read("KAFKA_SASL_PASSWORD")]],
    ["S3_SECRET_ACCESS_KEY", [read("S3_SECRET_ACCESS_KEY")]],
  ];
  return only([
    hasGateway && judgeOperatorKey(read("OPERATOR_KEY"), { isWhole }),
    ...passwords.map(
      ([name, values]) =>
        values.some((value) => wellKnownSecrets.has(value.toLowerCase())) &&
        warning(`${name} is one of the first that are guessed`, {
          why: "examples, images and installers bring it along",
          mend: "give that server another one, and set it here",
        }),
    ),
  ]);
}

function judgeOperatorKey(key: string, { isWhole }: { isWhole: boolean }): Finding | false {
  const name = isWhole ? "TESSERA_OPERATOR_KEY" : "OPERATOR_KEY";
  const mend = `set ${name} to what \`openssl rand -hex 32\` prints`;
  // A local start makes one and keeps it in the data folder.
  if (key === "") return !isWhole && warning(`${name} is not set`, { why: "no records can be imported", mend });
  if (/[^\x21-\x7e]/.test(key)) return wrong(`${name} has a character that no header can carry`, { mend });
  if (wellKnownSecrets.has(key.toLowerCase())) return wrong(`${name} is one of the first that are guessed`, { mend });
  if (key.length >= shortestKey) return false;
  return warning(`${name} has ${describeCount(key.length, "character")}`, {
    why: "with a guessed key everything can be changed",
    mend,
  });
}
