import { fault } from "@tessera/kit/faults";
import { aclNumbers, type KafkaAccess, kafkaClient, kafkaErrorType } from "./client.ts";

/** What an account may do with resources of one type. */
export interface Allowance {
  readonly principal: string;
  readonly resource: keyof typeof aclNumbers.resources;
  readonly pattern: keyof typeof aclNumbers.patterns;
  readonly names: readonly string[];
  readonly operations: readonly (keyof typeof aclNumbers.operations)[];
}

const longestMs = 30_000;

/** Adds access rules to the brokers; those that exist stay. The account needs `Alter` on the cluster. */
export async function allow(allowances: readonly Allowance[], access: KafkaAccess): Promise<void> {
  const acl = allowances.flatMap(({ principal, resource, pattern, names, operations }) =>
    names.flatMap((resourceName) =>
      operations.map((operation) => ({
        principal,
        host: "*",
        permissionType: aclNumbers.allow,
        resourceType: aclNumbers.resources[resource],
        resourcePatternType: aclNumbers.patterns[pattern],
        resourceName,
        operation: aclNumbers.operations[operation],
      })),
    ),
  );
  try {
    await kafkaClient(access).administer(longestMs, (admin) => admin.createAcls({ acl }));
  } catch (error) {
    const type = kafkaErrorType(error) ?? "no answer";
    throw fault("bus_unavailable", `access could not be granted at ${access.brokers.join(", ")} (${type})`, {
      cause: error,
    });
  }
}
