import { globSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { recordKinds } from "@tessera/protos/record-kinds";
import { recordSchemas } from "@tessera/resources/records/all-records";
import { compileSchema } from "@tessera/schema/schema";
import { describe, expect, it } from "vitest";
import { exampleOf, listFields, meaningOf, printRecordFields } from "./print-record-fields.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

interface Owner {
  readonly kinds: readonly { readonly name: keyof typeof recordSchemas; readonly schema: object }[];
}

async function readOwners(): Promise<Owner[]> {
  const paths = globSync("services/*/src/records/{all-kinds,record-owner}.ts", { cwd: root });
  const modules = await Promise.all(
    paths.map(async (path) => (await import(join(root, path))) as { recordOwner: Owner }),
  );
  return modules.map(({ recordOwner }) => recordOwner);
}

describe("docs/record-fields.md", () => {
  it("has the fields that records are read with (`npm run record-fields` writes it)", async () => {
    await expect(printRecordFields()).toMatchFileSnapshot("../../docs/record-fields.md");
  });

  it("shows the schema that the owner of each kind reads with", async () => {
    const kinds = (await readOwners()).flatMap((owner) => owner.kinds);
    expect(kinds.map(({ name }) => name).sort()).toEqual(Object.keys(recordKinds).sort());
    for (const { name, schema } of kinds) expect(schema, name).toBe(recordSchemas[name]);
  });

  it("says what every field means", () => {
    const silent = Object.entries(recordSchemas).flatMap(([kind, schema]) =>
      listFields(schema)
        .filter(({ schema: field }) => !/^[A-Z`].*\.$/s.test(meaningOf(field)))
        .map(({ path }) => `${kind}.${path}`),
    );
    expect(silent).toEqual([]);
  });

  it("has an example of every field that is no object, and each is accepted", () => {
    for (const [kind, schema] of Object.entries(recordSchemas)) {
      for (const { path, schema: field } of listFields(schema)) {
        const example = exampleOf(field);
        if (example === undefined) expect(field["properties"] ?? field["items"], `${kind}.${path}`).toBeDefined();
        else expect(compileSchema(field)(structuredClone(example)), `${kind}.${path}`).toMatchObject({ ok: true });
      }
    }
  });
});
