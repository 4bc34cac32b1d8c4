#!/usr/bin/env node
import { enableCompileCache } from "node:module";
import { runCommand } from "./run-verb.ts";
import { examples, verbs } from "./verbs.ts";

// Compiling takes half of a start, so processes share the result. Verbs are loaded after this line.
enableCompileCache();

await runCommand("tessera", verbs, { examples });
