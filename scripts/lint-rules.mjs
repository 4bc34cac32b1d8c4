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
const star = "/(?<!\\bas )\\b(?:select|returning)\\s+(?:\\w+\\.)?\\*/i";

/** @param {string} digits The first digit of the statuses. */
function httpStatus(digits) {
  const name = "/^status(?:Code)?$/";
  const number = `Literal[raw=/^[${digits}]\\d\\d$/]`;
  return forbid(
    "Throw a Fault; gateway/src/http/problem.ts gives it its status. Only a present.ts may name the status of an outcome.",
    `:matches(Property, PropertyDefinition)[key.name=${name}] > ${number}.value`,
    `TSPropertySignature[key.name=${name}] TSLiteralType > ${number}`,
    `VariableDeclarator[id.name=${name}] > ${number}`,
    `:matches(AssignmentExpression, AssignmentPattern):matches([left.name=${name}], [left.property.name=${name}]) > ${number}`,
    `CallExpression:matches([callee.name=respond], [callee.property.name=/^(?:writeHead|throw|redirect|respond)$/]) > ${number}`,
  );
}

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
    "faults-to-http": httpStatus("1-5"),
    "failures-to-http": httpStatus("45"),
    "named-booleans": forbid(
      "Make it a named property of an options object, so that the call can be read.",
      ":function > Identifier.params[typeAnnotation.typeAnnotation.type='TSBooleanKeyword']",
      ":function > Identifier.params > TSTypeAnnotation > TSUnionType > TSBooleanKeyword",
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
