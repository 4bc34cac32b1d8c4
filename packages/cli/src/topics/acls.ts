import { allow } from "@tessera/engines/kafka/acls";
import { readConfig } from "@tessera/kit/config/config";
import { createLog } from "@tessera/kit/telemetry/log";
import { readOptions, refuseNames } from "../command/options.ts";
import { engineSettings } from "../configuration/engine-settings.ts";
import { fault } from "../faults.ts";
import { kafkaAccess } from "../serve/open-engines.ts";
import { listAllowances, toScript } from "./list-allowances.ts";

const usage = `tessera topics acls [OPTIONS]

Prints what the account of each service may do with the brokers, as a script of their kafka-acls.sh. The names of topics
begin with KAFKA_TOPIC_PREFIX. With --apply it connects by KAFKA_… as an account that may alter the cluster, and adds the
rules itself; it removes none.`;

const options = {
  principal: {
    type: "string",
    value: "TEXT",
    default: "User:{name}",
    help: "how accounts are called; {name} is a service, topics or shop (default User:{name})",
  },
  apply: { type: "boolean", default: false, help: "add the rules to the brokers" },
} as const;

/** Prints access rules for the brokers, or adds them. */
export async function printAcls(args: string[]): Promise<void> {
  const read = readOptions(usage, options, args);
  if (read === undefined) return;
  refuseNames(read.names);
  const { principal, apply } = read.values;
  if (!principal.includes("{name}"))
    throw fault("bad_options", "--principal needs {name}: all services would share an account");
  const config = readConfig(engineSettings, process.env);
  const allowances = await listAllowances({
    prefix: config.kafkaTopicPrefix,
    principalOf: (name) => principal.replaceAll("{name}", name),
  });
  if (!apply) return void process.stdout.write(toScript(allowances));
  const log = createLog({ service: "topics", destination: { write: () => {} } });
  await allow(allowances, kafkaAccess(config, { clientId: "tessera-topics", log }));
  process.stdout.write("The brokers have the rules.\n");
}
