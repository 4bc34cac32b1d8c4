// The rules of the house about code, as syntax selectors for oxlint. `.oxlintrc.json` names the files of each.

/**
 * @param {string} remedy What to do instead.
 * @param {readonly string[]} selectors
 */
function forbid(remedy, ...selectors) {
  return {
    /** @param {{ report(finding: { node: unknown, message: string }): void }} context */
    create: (context) => {
      const report = (/** @type {unknown} */ node) => context.report({ node, message: remedy });
      return Object.fromEntries(selectors.map((selector) => [selector, report]));
    },
  };
}

const grpcCode =
  "CANCELLED|INVALID_ARGUMENT|DEADLINE_EXCEEDED|NOT_FOUND|ALREADY_EXISTS|PERMISSION_DENIED|RESOURCE_EXHAUSTED|FAILED_PRECONDITION|ABORTED|UNIMPLEMENTED|UNAUTHENTICATED";
const atTopLevel = ":matches(Program, ExportNamedDeclaration) > VariableDeclaration";
const statusName = "/^status(?:Code)?$/";
const statusNumber = "Literal[raw=/^[1-5]\\d\\d$/]";
const star = "/(?<!\\bas )\\b(?:select|returning)\\s+(?:\\w+\\.)?\\*/i";

export default {
  meta: { name: "house" },
  rules: {
    pure: forbid(
      "Domain, admission and values are pure: take the time, the random number or the setting as an argument; await in the handler.",
      "AwaitExpression",
      ":function[async=true]",
      "ForOfStatement[await=true]",
      "NewExpression[callee.name='Date'][arguments.length=0]",
      "MemberExpression[object.name=/^(?:process|crypto)$/]",
      "MemberExpression[object.name='Temporal'][property.name='Now']",
      ":matches(MemberExpression[object.name=/^(?:Date|performance)$/][property.name='now'], MemberExpression[object.name='Math'][property.name='random'])",
      "CallExpression[callee.name=/^(?:setTimeout|setInterval|setImmediate|fetch)$/]",
    ),
    stateless: forbid(
      "A module of domain, admission or values has no state: let the caller pass the cache.",
      `${atTopLevel}[kind='let']`,
      `${atTopLevel} > VariableDeclarator > NewExpression[callee.name=/^(?:Map|Set|WeakMap|WeakSet)$/][arguments.length=0]`,
      `${atTopLevel} > VariableDeclarator > NewExpression[callee.name=/Cache$/]`,
    ),
    "faults-to-grpc": forbid(
      "Throw a Fault; packages/engines/src/grpc/fault-status.ts gives it its code.",
      `Identifier[name=/^(?:${grpcCode})$/]`,
      "MemberExpression[object.name='status'][property.name=/^[A-Z][A-Z_]+$/]",
    ),
    "faults-to-http": forbid(
      "Throw a Fault, or name the status of an outcome: gateway/src/http/problem.ts alone knows its number.",
      `:matches(Property, PropertyDefinition)[key.name=${statusName}] > ${statusNumber}.value`,
      `Property > ${statusNumber}.key`,
      `TSPropertySignature[key.name=${statusName}] TSLiteralType > ${statusNumber}`,
      `VariableDeclarator[id.name=${statusName}] > ${statusNumber}`,
      `:matches(AssignmentExpression, AssignmentPattern):matches([left.name=${statusName}], [left.property.name=${statusName}]) > ${statusNumber}`,
      `CallExpression:matches([callee.name=respond], [callee.property.name=/^(?:writeHead|throw|redirect|respond)$/]) > ${statusNumber}`,
    ),
    "judged-statuses": forbid(
      "Ask gateway/src/http/problem.ts, which alone knows the numbers of statuses.",
      `BinaryExpression:matches([left.name=${statusName}], [left.property.name=${statusName}]) > ${statusNumber}`,
    ),
    "named-booleans": forbid(
      "Make it a named property of an options object, so that the call can be read.",
      ":matches(:function, TSMethodSignature, TSFunctionType) > Identifier.params[typeAnnotation.typeAnnotation.type='TSBooleanKeyword']",
      ":matches(:function, TSMethodSignature, TSFunctionType) > Identifier.params > TSTypeAnnotation > TSUnionType > TSBooleanKeyword",
      ":function > AssignmentPattern.params[right.raw=/^(?:true|false)$/]",
    ),
    "every-test-runs": forbid(
      "Run the test, or delete it. A test that lacks a dependency says so with context.skip(reason).",
      "MemberExpression[property.name=/^(?:only|skip|todo|fails)$/][object.name=/^(?:it|test|describe|suite|bench)$/]",
      "MemberExpression[property.name=/^(?:only|skip|todo|fails)$/] > MemberExpression.object[object.name=/^(?:it|test|describe|suite|bench)$/]",
      "CallExpression[callee.name=/^x(?:it|describe)$/]",
    ),
    "enumerated-columns": forbid(
      "Enumerate the columns.",
      `TemplateElement[value.raw=${star}]`,
      `Literal[value=${star}]`,
    ),
  },
};
