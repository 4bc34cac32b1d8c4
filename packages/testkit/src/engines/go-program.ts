import { join } from "node:path";
import {
  type Availability,
  enginesFolder,
  findProgram,
  installOnce,
  isExecutable,
  runInstaller,
} from "./engine-process.ts";

/** A program that is written in Go. */
export function goProgram(options: {
  readonly name: string;
  readonly version: string;
  /** The path of its package. */
  readonly source: string;
  readonly remedy: string;
}) {
  const { name, version, source, remedy } = options;
  const folderName = `${name}-${version}`;

  /** Whether this machine has it or can build it. */
  function find(): Availability {
    const installed = isExecutable(join(enginesFolder(), folderName, name));
    if (installed || findProgram(name) !== undefined || findProgram("go") !== undefined) return { available: true };
    return { available: false, reason: `there is no ${name} on the PATH and no Go to build one`, remedy };
  }

  /** Finds the program, and builds it if necessary: once per machine, for a minute or two. */
  async function install(): Promise<string> {
    const found = find();
    if (!found.available) throw new Error(`${found.reason}. ${found.remedy}`);
    const program = findProgram(name);
    if (program !== undefined) return program;
    // Tests run it for seconds: compiling takes longer than unoptimized code, C and debug data do.
    const plain = ["-gcflags=all=-N -l", "-ldflags=-s -w"];
    const folder = await installOnce(folderName, (draft) =>
      runInstaller("go", ["install", ...plain, `${source}@${version}`], { env: { GOBIN: draft, CGO_ENABLED: "0" } }),
    );
    return join(folder, name);
  }

  return { find, install };
}
